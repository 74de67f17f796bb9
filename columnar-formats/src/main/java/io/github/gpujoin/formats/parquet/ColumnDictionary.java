// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.io.ParquetDecodingException;
import org.jspecify.annotations.Nullable;

/** The dictionary of one column in a row group, which is decoded once. Not thread-safe. */
final class ColumnDictionary {

    private final ColumnDescriptor descriptor;
    private final ParquetColumn source;
    private boolean isRead;
    private DictionaryDecoder.@Nullable Values values;

    ColumnDictionary(ColumnDescriptor descriptor, ParquetColumn source) {
        this.descriptor = descriptor;
        this.source = source;
    }

    /**
     * Returns the dictionary.
     *
     * @param pages of some rows of the column
     * @return null if the column has none
     */
    DictionaryDecoder.@Nullable Values values(PageReader pages) throws IOException {
        if (!isRead) {
            DictionaryPage page = pages.readDictionaryPage();
            values = page == null ? null : decode(page);
            isRead = true;
        }
        return values;
    }

    private DictionaryDecoder.Values decode(DictionaryPage page) throws IOException {
        int size = page.getDictionarySize();
        PageBytes bytes = PageBytes.of(page.getBytes());
        if (size < 0 || size > bytes.end() - bytes.start()) {
            throw new ParquetDecodingException(
                    "Size of a dictionary is wrong: size="
                            + size
                            + ", bytes="
                            + (bytes.end() - bytes.start()));
        }
        if (source.isInteger()) {
            long[] all = new long[size];
            decoder(bytes).readLongs(all, 0, size);
            return new DictionaryDecoder.Values(all, null, size);
        }
        // Byte sequences refer to their page, whose array the next piece of the group may use.
        Binaries all = new Binaries(size);
        decoder(bytes.copy()).readBinaries(all, 0, size);
        return new DictionaryDecoder.Values(null, all, size);
    }

    private ValueDecoder decoder(PageBytes bytes) {
        return ConvertedDecoder.of(
                PlainDecoders.of(descriptor.getPrimitiveType(), bytes), source.conversion());
    }
}
