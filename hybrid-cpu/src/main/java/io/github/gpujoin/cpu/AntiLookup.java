package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;

/** Keeps the keys that have no row; gives no rows. Not thread-safe. */
final class AntiLookup implements KeyLookup {

    private final KeyLookup lookup;
    private final long foundNumbers;
    private final long isLeft;

    /**
     * @param maxKeys the most keys looked up at once
     * @param memory outlives the lookup
     */
    AntiLookup(KeyLookup lookup, int maxKeys, PagedMemory memory) {
        this.lookup = lookup;
        this.foundNumbers = memory.take(4L * maxKeys);
        this.isLeft = memory.take(maxKeys);
    }

    /**
     * @param matches of unspecified content afterwards
     */
    @Override
    public int findFirst(
            byte[] base, long keys, int count, int firstNumber, long numbers, long matches) {
        int found = lookup.findFirst(base, keys, count, 0, foundNumbers, matches);
        Memory.fill(null, isLeft, count, (byte) 1);
        for (int i = 0; i < found; i++) {
            Memory.putByte(null, isLeft + Memory.getInt(foundNumbers + 4L * i), (byte) 0);
        }
        // no branch depends on the data
        long target = numbers;
        for (int i = 0; i < count; i++) {
            Memory.putInt(target, firstNumber + i);
            target += 4L * Memory.getByte(null, isLeft + i);
        }
        return (int) (target - numbers) / Integer.BYTES;
    }
}
