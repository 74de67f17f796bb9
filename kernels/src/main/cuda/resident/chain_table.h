// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Hash table of one partition's build rows, in the shared memory of a block.
#pragma once

#include <cstdint>

#include "key_bits.h"

namespace gpujoin::resident {

// Exchanges a word in the shared memory of a block; on the host, for a single thread.
GPUJOIN_INLINE uint32_t exchangeInBlock(uint32_t* word, uint32_t value) {
#if defined(__CUDA_ARCH__)
    return atomicExch(word, value);
#else
    uint32_t before = *word;
    *word = value;
    return before;
#endif
}

// Keys and payloads are columns, so that a comparison of keys reads only keys. The table does not
// own its memory.
//
//   heads[slot] -> link of the first row, or 0
//   next[link]  -> link of the next row, or 0; next[0] = 0
//
// The link of a row is its number plus one. Link 0 refers to itself, so a lookup follows it like
// any other link and needs no branch for chains that have ended.
//
// Threads of a block insert different rows concurrently; lookups start after a barrier. A lookup
// follows a chain to its end, so repeated build keys need no special layout.
template <typename Word>
struct ChainTable {
    static constexpr uint32_t NONE = 0;
    // Rows reserved for link 0; the number keeps all columns aligned.
    static constexpr uint32_t SPARE_ROWS = 8;

    Word* keys;
    Word* payloads;
    uint32_t* heads;
    uint16_t* next;
    uint32_t slotBits;

    static GPUJOIN_INLINE constexpr size_t lengthBytes(uint32_t rows, uint32_t slotBits) {
        return (rows + SPARE_ROWS) * (2 * sizeof(Word) + sizeof(uint16_t)) +
               (sizeof(uint32_t) << slotBits);
    }

    // `memory` is aligned to 16 bytes; `rows` is a multiple of 8 and less than 65536.
    static GPUJOIN_INLINE ChainTable over(void* memory, uint32_t rows, uint32_t slotBits) {
        ChainTable table;
        table.heads = static_cast<uint32_t*>(memory);
        table.keys = reinterpret_cast<Word*>(table.heads + (1u << slotBits));
        table.payloads = table.keys + rows + SPARE_ROWS;
        table.next = reinterpret_cast<uint16_t*>(table.payloads + rows + SPARE_ROWS);
        table.slotBits = slotBits;
        return table;
    }

    // Empties the table before the first insertion. All `threads` threads of the block call it.
    GPUJOIN_INLINE void clear(uint32_t thread, uint32_t threads) const {
        for (uint32_t slot = thread; slot < (1u << slotBits); slot += threads) {
            heads[slot] = NONE;
        }
        if (thread == 0) {
            next[NONE] = NONE;
        }
    }

    GPUJOIN_INLINE void insert(uint32_t row, const Tuple<Word>& tuple) const {
        uint32_t link = row + 1;
        keys[link] = tuple.key;
        payloads[link] = tuple.payload;
        uint32_t slot = tableSlot(keyHash(tuple.key), slotBits);
        next[link] = static_cast<uint16_t>(exchangeInBlock(&heads[slot], link));
    }

    GPUJOIN_INLINE uint32_t chain(Word key) const {
        return heads[tableSlot(keyHash(key), slotBits)];
    }
    GPUJOIN_INLINE bool matches(uint32_t link, Word key) const {
        return keys[link] == key && link != NONE;
    }
    GPUJOIN_INLINE Word payloadAt(uint32_t link) const { return payloads[link]; }
    GPUJOIN_INLINE uint32_t after(uint32_t link) const { return next[link]; }
};

}  // namespace gpujoin::resident
