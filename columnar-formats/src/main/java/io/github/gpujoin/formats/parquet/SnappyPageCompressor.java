// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputCompressor;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.xerial.snappy.Snappy;

/**
 * Compresses pages with Snappy from array to array, which parquet-java does through two direct
 * buffers and a stream. A page is valid until the next one is compressed. Not thread-safe.
 */
final class SnappyPageCompressor implements BytesInputCompressor {

    private byte[] compressed = new byte[0];

    @Override
    public BytesInput compress(BytesInput page) throws IOException {
        PageBytes plain = PageBytes.of(page);
        int length = plain.end() - plain.start();
        int bound = Snappy.maxCompressedLength(length);
        if (compressed.length < bound) {
            compressed = new byte[bound];
        }
        int bytes = Snappy.compress(plain.bytes(), plain.start(), length, compressed, 0);
        return BytesInput.from(compressed, 0, bytes);
    }

    @Override
    public CompressionCodecName getCodecName() {
        return CompressionCodecName.SNAPPY;
    }

    @Override
    public void release() {}
}
