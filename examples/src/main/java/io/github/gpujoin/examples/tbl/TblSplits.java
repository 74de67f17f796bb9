// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.enumerate.FileEnumerator;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/**
 * Cuts files into a few splits for each reader, so that all readers have work to the end: a file
 * system's blocks are too large for that on small files.
 */
public final class TblSplits implements FileEnumerator {

    static final long SMALLEST_BYTES = 1 << 20;
    static final long LARGEST_BYTES = 64 << 20;
    private static final int SPLITS_PER_READER = 4;

    @Override
    public Collection<FileSourceSplit> enumerateSplits(Path[] paths, int readers)
            throws IOException {
        List<FileSourceSplit> splits = new ArrayList<>();
        for (Path path : paths) {
            FileStatus file = path.getFileSystem().getFileStatus(path);
            long length = splitLength(file.getLen(), readers);
            for (long offset = 0; offset < file.getLen(); offset += length) {
                splits.add(
                        new FileSourceSplit(
                                path + "@" + offset,
                                path,
                                offset,
                                Math.min(length, file.getLen() - offset),
                                file.getModificationTime(),
                                file.getLen()));
            }
        }
        return splits;
    }

    private static long splitLength(long fileLength, int readers) {
        long wanted = fileLength / ((long) SPLITS_PER_READER * Math.max(1, readers)) + 1;
        return Math.max(SMALLEST_BYTES, Math.min(LARGEST_BYTES, wanted));
    }
}
