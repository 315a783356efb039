#pragma once

#include "kernels/panel/panel.h"

// The rows of the table in panel.cc: <weights>By<rows><instruction set>.
namespace assay::kernels {

bool HasAvx2();
bool HasAvx512Vnni();

// Highway chooses the instruction set.
void Bf16ByFloat(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);
void Mxfp4ByFloat(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);

void Bf16ByBf16Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);
void Mxfp4ByBf16Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);

void Int8ByInt8Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);
void Mxfp4ByInt8Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);

void Int8ByInt8Avx2(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);
void Mxfp4ByInt8Avx2(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);

void Int8ByInt8Portable(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);
void Mxfp4ByInt8Portable(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);

}  // namespace assay::kernels
