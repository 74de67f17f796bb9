// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Signed integers of 1, 2, 4 or 8 bytes at their own alignment, and floats as their bits.
#pragma once

#include <cstdint>

#include "attributes.h"

namespace gpujoin {

// The width is the same for all values of a column, so that threads do not diverge.
GPUJOIN_HD inline int64_t loadInteger(const unsigned char* at, uint32_t widthBytes) {
    switch (widthBytes) {
        case 8:
            return *reinterpret_cast<const int64_t*>(at);
        case 4:
            return *reinterpret_cast<const int32_t*>(at);
        case 2:
            return *reinterpret_cast<const int16_t*>(at);
        default:
            return *reinterpret_cast<const int8_t*>(at);
    }
}

// Stores the lowest bytes of a value.
GPUJOIN_HD inline void storeInteger(unsigned char* at, uint32_t widthBytes, uint64_t value) {
    switch (widthBytes) {
        case 8:
            *reinterpret_cast<uint64_t*>(at) = value;
            break;
        case 4:
            *reinterpret_cast<uint32_t*>(at) = static_cast<uint32_t>(value);
            break;
        case 2:
            *reinterpret_cast<uint16_t*>(at) = static_cast<uint16_t>(value);
            break;
        default:
            *at = static_cast<unsigned char>(value);
    }
}

}  // namespace gpujoin
