// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.layout.Chunk;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.api.connector.source.DynamicParallelismInference;
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
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.util.function.SerializableFunction;
import org.jspecify.annotations.Nullable;

/**
 * Flink's file source, whose readers count what they read. If one join alone reads the source, its
 * readers also know the conditions of that join.
 */
final class ColumnarFileSource extends AbstractFileSource<Chunk, FileSourceSplit>
        implements DynamicParallelismInference {

    private static final long serialVersionUID = 1L;

    private final Path[] paths;
    private final ColumnarFormat format;
    private final SerializableFunction<MetricGroup, ColumnConditions> conditions;

    /**
     * @param watch null for a source that ends with its files
     * @param conditions returns the conditions of a reader with the metrics
     */
    ColumnarFileSource(
            Path[] paths,
            FileEnumerator.Provider enumerator,
            ColumnarFormat format,
            @Nullable ContinuousEnumerationSettings watch,
            SerializableFunction<MetricGroup, ColumnConditions> conditions) {
        super(
                paths,
                enumerator,
                FileSource.DEFAULT_SPLIT_ASSIGNER,
                new ColumnarBulkFormat(format),
                watch);
        this.paths = paths;
        this.format = format;
        this.conditions = conditions;
    }

    @Override
    public SourceReader<Chunk, FileSourceSplit> createReader(SourceReaderContext context) {
        ReadProgress progress = ReadProgress.of(context.metricGroup());
        return new FileSourceReader<>(
                context,
                new ColumnarBulkFormat(format, conditions.apply(context.metricGroup()), progress),
                context.getConfiguration());
    }

    @Override
    public SimpleVersionedSerializer<FileSourceSplit> getSplitSerializer() {
        return FileSourceSplitSerializer.INSTANCE;
    }

    /** {@inheritDoc} Returns the number of splits. */
    @Override
    public int inferParallelism(DynamicParallelismInference.Context context) {
        int most = context.getParallelismInferenceUpperBound();
        try {
            int splits = getEnumeratorFactory().create().enumerateSplits(paths, most).size();
            return Math.max(1, Math.min(splits, most));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
