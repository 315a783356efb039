#pragma once

#include <string>
#include <vector>

#include "engine/model/random_checkpoint.h"
#include "engine/model/safetensors.h"

namespace assay::engine {

// A tensor of a random checkpoint: its place in the file and where its values come from.
struct RandomTensor {
  enum class Source { kNormal, kNearOne, kBlocks, kScales, kTransposed, kConstant };

  std::string name;
  TensorType type;
  std::vector<int64_t> shape;
  Source source;
  // Names the stream. The same weights have the same one in every layout.
  std::string stream;
  float value = 0;    // kNormal, kNearOne: deviation; kConstant: the value
  int exponent = 0;   // MXFP4: of the larger scales
  int64_t k = 0;      // MXFP4: length of a row
  int64_t first = 0;  // element (MXFP4: block) of the stream that the tensor begins with

  int64_t Elements() const;
  int64_t Bytes() const { return Elements() * TensorTypeBytes(type); }
  // Pieces that can be filled one without another; the last may be shorter.
  int64_t PieceBytes() const;
};

// Every tensor of the checkpoint, as a folder of one file has them.
std::vector<RandomTensor> ListRandomTensors(const RandomCheckpoint& checkpoint);

// Bytes [begin, end) of the tensor; begin is a multiple of PieceBytes() and end is the end of that piece.
void FillPiece(const RandomTensor& tensor, uint64_t seed, int64_t begin, int64_t end, std::byte* out);

}  // namespace assay::engine
