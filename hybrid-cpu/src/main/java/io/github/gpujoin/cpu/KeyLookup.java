package io.github.gpujoin.cpu;

/** Finds the first row of many keys at once. One for each thread. */
interface KeyLookup {

    /**
     * Numbers the keys from {@code firstNumber} on and keeps those that have a row.
     *
     * @param base array that {@code keys} is an offset in, null where it is an address
     * @param keys {@code int64[count]}
     * @param numbers address of room for {@code int32[count]}: numbers of the keys that were found,
     *     ascending
     * @param matches address of room for {@code int64[count]}: addresses of their first rows, or
     *     the rows, as {@linkplain CpuJoinTable#rowLookup() the table} gave this lookup
     * @return number of keys found
     */
    int findFirst(byte[] base, long keys, int count, int firstNumber, long numbers, long matches);
}
