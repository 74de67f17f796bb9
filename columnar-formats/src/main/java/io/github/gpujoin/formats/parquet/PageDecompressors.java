// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.CodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.xerial.snappy.Snappy;

/**
 * Decompresses pages of Snappy from array to array, which parquet-java does through two direct
 * buffers and a stream. Parquet-java decompresses all others.
 */
final class PageDecompressors implements CompressionCodecFactory {

    private final CodecFactory others = new CodecFactory(new PlainParquetConfiguration(), 0);

    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName codec) {
        throw new UnsupportedOperationException("only for readers");
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
        return codec == CompressionCodecName.SNAPPY
                ? new SnappyPages()
                : others.getDecompressor(codec);
    }

    @Override
    public void release() {
        others.release();
    }

    private static final class SnappyPages implements BytesInputDecompressor {

        @Override
        public BytesInput decompress(BytesInput page, int lengthBytes) throws IOException {
            PageBytes compressed = PageBytes.of(page);
            // Snappy reads the length from the page, and writes so many bytes.
            int start = compressed.start();
            int length = compressed.end() - start;
            int actual = Snappy.uncompressedLength(compressed.bytes(), start, length);
            if (actual != lengthBytes) {
                throw new IOException(
                        "Page has another length than its header says: header="
                                + lengthBytes
                                + ", page="
                                + actual);
            }
            byte[] bytes = new byte[lengthBytes + PageBytes.READABLE_BEHIND];
            Snappy.uncompress(compressed.bytes(), start, length, bytes, 0);
            return BytesInput.from(bytes, 0, lengthBytes);
        }

        @Override
        public void decompress(
                ByteBuffer page, int compressedBytes, ByteBuffer into, int lengthBytes)
                throws IOException {
            byte[] compressed = new byte[compressedBytes];
            page.get(compressed);
            into.put(decompress(BytesInput.from(compressed), lengthBytes).toByteBuffer());
        }

        @Override
        public void release() {}
    }
}
