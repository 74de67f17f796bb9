// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.filter.SourceConditions;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.file.src.AbstractFileSource;
import org.apache.flink.connector.file.src.ContinuousEnumerationSettings;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.FileSourceSplitSerializer;
import org.apache.flink.connector.file.src.enumerate.FileEnumerator;
import org.apache.flink.connector.file.src.impl.FileSourceReader;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Flink's file source, whose readers know the conditions of the join that reads their rows, and no
 * one else does.
 */
final class ColumnarFileSource extends AbstractFileSource<Chunk, FileSourceSplit> {

    private static final long serialVersionUID = 1L;

    private final ColumnarFormat format;
    private final String join;

    /**
     * @param join identifies the join
     */
    ColumnarFileSource(
            Path[] paths,
            FileEnumerator.Provider enumerator,
            ColumnarFormat format,
            @Nullable ContinuousEnumerationSettings watch,
            String join) {
        super(
                paths,
                enumerator,
                FileSource.DEFAULT_SPLIT_ASSIGNER,
                new ColumnarBulkFormat(format, ColumnConditions.NONE),
                watch);
        this.format = format;
        this.join = join;
    }

    @Override
    public SourceReader<Chunk, FileSourceSplit> createReader(SourceReaderContext context) {
        SourceConditions conditions = SourceConditions.of(join, context.metricGroup());
        return new FileSourceReader<>(
                context, new ColumnarBulkFormat(format, conditions), context.getConfiguration());
    }

    @Override
    public SimpleVersionedSerializer<FileSourceSplit> getSplitSerializer() {
        return FileSourceSplitSerializer.INSTANCE;
    }
}
