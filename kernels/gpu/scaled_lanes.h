#pragma once

// Where the numbers of gfx950's v_mfma_scale_f32_16x16x128_f8f6f4 lie in a wave of 64 when its A is MXFP4 and
// its B is FP8. Plain functions, so that a test can play the instruction on the host: nobody here has the
// chip.
namespace assay::kernels::gpu::scaled {

constexpr int kK = 128;          // that the instruction multiplies at once
constexpr int kPieceBytes = 16;  // of FP8 that follow each other in a lane

// The row of A, or the column of B, of which a lane has 32 k.
constexpr int LineOf(int lane) {
  return lane % 16;
}
// A lane's A is this block of 32 k of its row, nibbles as checkpoints have them; the block's scale is byte 0
// of the lane's scale.
constexpr int BlockOf(int lane) {
  return lane / 16;
}
// A lane's B are two pieces of 16 bytes of its column's 128: first k = 0 to 63 are dealt to the lanes, then
// 64 to 127.
constexpr int PieceOf(int lane, int half) {
  return half * 4 + lane / 16;
}
// Sum i of a lane's four is that of this row of A and of column LineOf(lane) of B.
constexpr int RowOfSum(int lane, int i) {
  return lane / 16 * 4 + i;
}

}  // namespace assay::kernels::gpu::scaled
