// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

/**
 * Fills arrays through {@link Memory} in a loop with safepoints while another thread makes the
 * garbage collector move them. Prints the number of arrays with a lost value.
 */
final class MovedArrayProgram {

    private static final int VALUES = 60_000;
    private static final int ARRAYS = 400;
    private static final int WARM_UP = 200_000;

    private static volatile byte[] garbage = new byte[0];

    private MovedArrayProgram() {}

    public static void main(String[] args) {
        useNativeMemory();
        Thread allocating = new Thread(MovedArrayProgram::allocate, "allocating");
        allocating.setDaemon(true);
        allocating.start();
        int damaged = 0;
        for (int i = 0; i < ARRAYS; i++) {
            byte[] array = new byte[Integer.BYTES * VALUES];
            fill(array, Memory.BYTES, Integer.BYTES);
            damaged += isFilled(array) ? 0 : 1;
        }
        System.out.println("damaged=" + damaged);
    }

    /** Shows the compiler both kinds of bases, which a process with slots and arrays uses. */
    private static void useNativeMemory() {
        try (Region region = Region.allocate(Long.BYTES)) {
            for (int i = 0; i < WARM_UP; i++) {
                Memory.putInteger(null, region.address(), Integer.BYTES, i);
                Memory.putInteger(null, region.address(), Long.BYTES, i);
            }
        }
    }

    private static void allocate() {
        while (!Thread.currentThread().isInterrupted()) {
            garbage = new byte[2_000];
        }
    }

    /** The caller makes the width a variable, as in loops that decode columns of any type. */
    private static void fill(byte[] array, long start, int widthBytes) {
        long at = start;
        for (int i = 0; i < VALUES; i++, at += widthBytes) {
            Memory.putInteger(array, at, widthBytes, value(i));
        }
    }

    /** Not 0. The test forbids to inline it, so that each call is a safepoint. */
    private static long value(int number) {
        return number | 1;
    }

    private static boolean isFilled(byte[] array) {
        for (int i = 0; i < VALUES; i++) {
            if (Memory.getInt(array, Memory.BYTES + 4L * i) != value(i)) {
                return false;
            }
        }
        return true;
    }
}
