// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.source.ColumnarFormat;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;

/** A format of files that no one reads. */
record NoFormat(ChunkSchema schema) implements ColumnarFormat {

    private static final long serialVersionUID = 1L;

    @Override
    public boolean isSplittable() {
        return false;
    }

    @Override
    public ColumnarReader open(ColumnarSplit split, ColumnarPosition from) {
        throw new UnsupportedOperationException();
    }
}
