// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputCompressor;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.jspecify.annotations.Nullable;
import org.xerial.snappy.Snappy;

/**
 * Compresses pages with Snappy from array to array, which parquet-java does through two direct
 * buffers and a stream. A page is valid until the next one is compressed. Not thread-safe.
 */
final class SnappyPageCompressor implements BytesInputCompressor {

    private byte[] compressed = new byte[0];

    /** Pages of several columns, compressed, or null until they are. */
    private final Map<BytesInput, @Nullable BytesInput> shared = new IdentityHashMap<>();

    /** Lets a page be compressed once, however many columns have it. */
    void share(BytesInput page) {
        shared.putIfAbsent(page, null);
    }

    @Override
    public BytesInput compress(BytesInput page) throws IOException {
        if (!shared.containsKey(page)) {
            int length = compressNow(page);
            return BytesInput.from(compressed, 0, length);
        }
        BytesInput known = shared.get(page);
        if (known == null) {
            int length = compressNow(page);
            known = BytesInput.from(Arrays.copyOf(compressed, length));
            shared.put(page, known);
        }
        return known;
    }

    /** Returns the bytes of the compressed page. */
    private int compressNow(BytesInput page) throws IOException {
        PageBytes plain = PageBytes.of(page);
        int length = plain.end() - plain.start();
        int bound = Snappy.maxCompressedLength(length);
        if (compressed.length < bound) {
            compressed = new byte[bound];
        }
        return Snappy.compress(plain.bytes(), plain.start(), length, compressed, 0);
    }

    @Override
    public CompressionCodecName getCodecName() {
        return CompressionCodecName.SNAPPY;
    }

    @Override
    public void release() {}
}
