// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.WordSum;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Several parts of one payload, such as small chunks that travel in one slot. Each starts at a
 * multiple of 64 bytes, like the payload itself; zeros fill the gaps.
 *
 * <pre>
 *   0         length0     align(length0)                 lengthBytes
 *  +---------+-----------+---------+-----------+---------+
 *  | part 0  | zeros     | part 1  | zeros     | part 2  |
 *  +---------+-----------+---------+-----------+---------+
 * </pre>
 *
 * <p>The payload contains no index of its parts, so a payload of one part is that part. Each part
 * states its own length.
 */
public final class SlotParts {

    private static final int ALIGNMENT = 64;

    private SlotParts() {}

    /** Returns the next offset at which a part may start: a multiple of 64 bytes. */
    public static int align(int offsetBytes) {
        return (offsetBytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /**
     * Returns the length of a payload with one more part.
     *
     * @param lengthBytes of the payload, 0 if it has no part
     * @param partBytes a positive multiple of 8
     */
    public static int lengthWith(int lengthBytes, int partBytes) {
        return align(lengthBytes) + partBytes;
    }

    /**
     * Returns the length of the payload of some parts.
     *
     * @throws IllegalArgumentException if the length of a part is no positive multiple of 8
     */
    static int lengthBytes(List<byte[]> parts) {
        int length = 0;
        for (byte[] part : parts) {
            if (part.length == 0 || part.length % 8 != 0) {
                throw new IllegalArgumentException(
                        "Length of a part is no positive multiple of 8: partBytes=" + part.length);
            }
            length = lengthWith(length, part.length);
        }
        return length;
    }

    /** Returns the {@link WordSum} of the payload from position 1, from the words of the parts. */
    static long wordSum(List<byte[]> parts) {
        long sum = 0;
        int end = 0;
        for (byte[] part : parts) {
            int start = align(end);
            for (int gap = end; gap < start; gap += 8) {
                sum += WordSum.ofWord(0, 1 + (gap >>> 3));
            }
            sum += WordSum.of(part, Memory.BYTES, part.length >>> 3, 1 + (start >>> 3));
            end = start + part.length;
        }
        return sum;
    }

    /** Writes the payload of some parts. */
    static void copyTo(List<byte[]> parts, @Nullable Object base, long offset) {
        int end = 0;
        for (byte[] part : parts) {
            int start = align(end);
            for (int gap = end; gap < start; gap += 8) {
                Memory.putLong(base, offset + gap, 0);
            }
            Memory.copy(part, Memory.BYTES, base, offset + start, part.length);
            end = start + part.length;
        }
    }
}
