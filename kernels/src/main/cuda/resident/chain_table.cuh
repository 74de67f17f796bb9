#pragma once

#include <cstdint>

#include "key_bits.cuh"

namespace gpujoin::resident {

/** Exchanges a word of a thread block's shared memory; on the host, of a single thread. */
GPUJOIN_INLINE std::uint32_t exchangeInBlock(std::uint32_t* word, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
    return atomicExch(word, value);
#else
    const std::uint32_t before = *word;
    *word = value;
    return before;
#endif
}

/**
 * Hash table of one partition's build rows: heads and chains, rows in columns so that comparing keys reads
 * keys alone. Views memory it does not own.
 *
 *   heads[slot] -> link of the first row, or 0       next[link] -> link of the next row, or 0; next[0] = 0
 *
 * A row's link is its number plus one. Link 0 may be followed like any other and leads to itself, so that a
 * lookup needs no branch for chains that have ended.
 *
 * Threads of a block insert different rows at the same time; lookups start after a barrier. Chains are always
 * walked to their end, so equal build keys need no special layout.
 */
template <class Word>
struct ChainTable {
    static constexpr std::uint32_t kNone = 0;
    /** Room for link 0 that keeps all columns aligned. */
    static constexpr std::uint32_t kSpareRows = 8;

    Word* keys;
    Word* payloads;
    std::uint32_t* heads;
    std::uint16_t* next;
    std::uint32_t slotBits;

    static constexpr std::size_t lengthBytes(std::uint32_t rows, std::uint32_t slotBits) {
        return (rows + kSpareRows) * (2 * sizeof(Word) + sizeof(std::uint16_t)) +
               (sizeof(std::uint32_t) << slotBits);
    }

    /** Memory is aligned to 16 bytes; rows is a multiple of 8 and less than 65536. */
    static GPUJOIN_INLINE ChainTable over(void* memory, std::uint32_t rows,
                                          std::uint32_t slotBits) {
        ChainTable table;
        table.heads = static_cast<std::uint32_t*>(memory);
        table.keys = reinterpret_cast<Word*>(table.heads + (1u << slotBits));
        table.payloads = table.keys + rows + kSpareRows;
        table.next = reinterpret_cast<std::uint16_t*>(table.payloads + rows + kSpareRows);
        table.slotBits = slotBits;
        return table;
    }

    /** Before the first row is inserted; by `threads` threads of a block, or by one. */
    GPUJOIN_INLINE void clear(std::uint32_t thread, std::uint32_t threads) const {
        for (std::uint32_t slot = thread; slot < (1u << slotBits); slot += threads) {
            heads[slot] = kNone;
        }
        if (thread == 0) {
            next[kNone] = kNone;
        }
    }

    GPUJOIN_INLINE void insert(std::uint32_t row, const Tuple<Word>& tuple) const {
        const std::uint32_t link = row + 1;
        keys[link] = tuple.key;
        payloads[link] = tuple.payload;
        const std::uint32_t slot = tableSlot(keyHash(tuple.key), slotBits);
        next[link] = static_cast<std::uint16_t>(exchangeInBlock(&heads[slot], link));
    }

    GPUJOIN_INLINE std::uint32_t chain(Word key) const {
        return heads[tableSlot(keyHash(key), slotBits)];
    }
    GPUJOIN_INLINE bool matches(std::uint32_t link, Word key) const {
        return keys[link] == key && link != kNone;
    }
    GPUJOIN_INLINE Word payloadAt(std::uint32_t link) const { return payloads[link]; }
    GPUJOIN_INLINE std::uint32_t after(std::uint32_t link) const { return next[link]; }
};

}  // namespace gpujoin::resident
