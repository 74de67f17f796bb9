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
import org.jspecify.annotations.Nullable;
import org.xerial.snappy.Snappy;

/**
 * Decompresses pages of Snappy from array to array, which parquet-java does through two direct
 * buffers and a stream. Parquet-java decompresses all others. Not thread-safe.
 */
final class PageDecompressors implements CompressionCodecFactory {

    /** In which the next page is decompressed if it has room. */
    private byte @Nullable [] buffer;

    private final CodecFactory others = new CodecFactory(new PlainParquetConfiguration(), 0);

    /**
     * Offers an array for the next page, whose former content is no longer used.
     *
     * @param offered null to decompress to a new array
     */
    void offer(byte @Nullable [] offered) {
        buffer = offered;
    }

    /** Returns the array of the last page, or what was offered since. */
    byte @Nullable [] buffer() {
        return buffer;
    }

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

    /** Returns the offered array, or a new one that replaces it if it has no room. */
    private byte[] withRoom(int lengthBytes) {
        byte[] bytes = buffer;
        if (bytes == null || bytes.length < lengthBytes) {
            bytes = new byte[lengthBytes];
            buffer = bytes;
        }
        return bytes;
    }

    private final class SnappyPages implements BytesInputDecompressor {

        @Override
        public BytesInput decompress(BytesInput page, int lengthBytes) throws IOException {
            PageBytes compressed = PageBytes.of(page);
            // Snappy reads the length from the page, and writes so many bytes.
            int start = compressed.start();
            int length = compressed.end() - start;
            if (length == 0 && lengthBytes == 0) {
                return BytesInput.empty(); // values of a page of nulls, which Snappy cannot read
            }
            int actual = Snappy.uncompressedLength(compressed.bytes(), start, length);
            if (actual != lengthBytes) {
                throw new IOException(
                        "Page has another length than its header says: header="
                                + lengthBytes
                                + ", page="
                                + actual);
            }
            byte[] bytes = withRoom(lengthBytes + PageBytes.READABLE_BEHIND);
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
