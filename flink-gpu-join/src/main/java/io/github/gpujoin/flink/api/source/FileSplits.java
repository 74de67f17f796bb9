// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.enumerate.NonSplittingRecursiveEnumerator;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * Finds all files of some paths, as Flink's own enumerators do, and cuts each into a few splits for
 * every reader, so that all readers have work to the end: a file system's blocks are too large for
 * that on small files. A file of no bytes is one split: its format decides whether it is damaged.
 */
final class FileSplits extends NonSplittingRecursiveEnumerator {

    static final long SMALLEST_BYTES = 1 << 20;
    static final long LARGEST_BYTES = 64 << 20;
    private static final int SPLITS_PER_READER = 4;

    private int readers = 1;

    @Override
    public Collection<FileSourceSplit> enumerateSplits(Path[] paths, int minDesiredSplits)
            throws IOException {
        readers = Math.max(1, minDesiredSplits);
        return super.enumerateSplits(paths, minDesiredSplits);
    }

    @Override
    protected void convertToSourceSplits(
            FileStatus file, FileSystem fileSystem, List<FileSourceSplit> target) {
        long wanted = file.getLen() / ((long) SPLITS_PER_READER * readers) + 1;
        long length = Math.max(SMALLEST_BYTES, Math.min(LARGEST_BYTES, wanted));
        long offset = 0;
        do {
            target.add(
                    new FileSourceSplit(
                            getNextId(),
                            file.getPath(),
                            offset,
                            Math.min(length, file.getLen() - offset),
                            file.getModificationTime(),
                            file.getLen()));
            offset += length;
        } while (offset < file.getLen());
    }
}
