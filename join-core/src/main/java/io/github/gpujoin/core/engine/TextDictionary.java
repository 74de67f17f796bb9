// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Numbers texts from 0 in the order of their first appearance. Null has the code {@value
 * #NULL_CODE}. Texts are never removed. Thread-safe.
 */
final class TextDictionary implements AutoCloseable {

    static final int NULL_CODE = -1;

    /** Upper bound of the heap bytes of an entry without the chars of its text. */
    static final int ENTRY_BYTES = 160;

    private final MemoryReservations memory;

    /** Most look-ups find their text here, without a lock. */
    private final Map<String, Integer> codes = new ConcurrentHashMap<>();

    /** By code. Guarded by this object, like the reserved bytes. */
    private final List<String> texts = new ArrayList<>();

    private long reservedBytes;
    private boolean isClosed;

    /**
     * @param memory bounds the heap bytes of the texts
     */
    TextDictionary(MemoryReservations memory) {
        this.memory = memory;
    }

    /**
     * Returns the code of a text, which is added if it is new.
     *
     * @throws MemoryRefusedException if the memory has no room for a new text
     */
    int code(@Nullable String text) {
        if (text == null) {
            return NULL_CODE;
        }
        Integer code = codes.get(text);
        return code == null ? add(text) : code;
    }

    private synchronized int add(String text) {
        Integer added = codes.get(text);
        if (added != null) {
            return added;
        }
        if (isClosed) {
            throw new IllegalStateException("Dictionary of texts is closed: texts=" + texts.size());
        }
        long bytes = ENTRY_BYTES + 2L * text.length();
        memory.reserve(bytes);
        reservedBytes += bytes;
        int code = texts.size();
        texts.add(text);
        codes.put(text, code);
        return code;
    }

    /** Returns the text of a code. */
    synchronized @Nullable String text(long code) {
        return code == NULL_CODE ? null : texts.get((int) code);
    }

    /** Releases the reserved memory. A later call has no effect. */
    @Override
    public synchronized void close() {
        isClosed = true;
        memory.release(reservedBytes);
        reservedBytes = 0;
    }
}
