// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import shaded.parquet.org.apache.thrift.TException;

/**
 * Why a file cannot be opened as Parquet. A Parquet file starts and ends with a magic number, and
 * has its metadata at the end:
 *
 * <pre>
 *   "PAR1" | row groups | footer | length of the footer: int32 | "PAR1"
 * </pre>
 *
 * <p>The metadata are written last, so that no row of a truncated file can be read.
 */
@Internal
public final class FileFault {

    private static final int MAGIC_BYTES = 4;

    private static final int SMALLEST_BYTES = 2 * MAGIC_BYTES + Integer.BYTES;

    private static final String MAGIC = "PAR1";

    /** Of a file whose footer is encrypted. */
    private static final String ENCRYPTED_MAGIC = "PARE";

    private FileFault() {}

    /**
     * Returns the exception for a file that was not opened.
     *
     * @param lengthBytes of the file
     * @param cause of parquet-java, or of the file system
     */
    public static IOException of(Path file, long lengthBytes, Exception cause) {
        String start;
        String end;
        try {
            start = lengthBytes < SMALLEST_BYTES ? "" : magic(file, 0);
            end = lengthBytes < SMALLEST_BYTES ? "" : magic(file, lengthBytes - MAGIC_BYTES);
        } catch (IOException e) {
            cause.addSuppressed(e);
            return unread(file, cause);
        }
        if (end.equals(MAGIC) && !isOfParquet(cause)) {
            return unread(file, cause);
        }
        String values = "file=%s, bytes=%d".formatted(file, lengthBytes);
        return new IOException(message(lengthBytes, start, end, cause).formatted(values), cause);
    }

    private static IOException unread(Path file, Exception cause) {
        return new IOException(
                "Cannot read the footer of a Parquet file: file=%s, cause=%s. Check its file system, and read the file again."
                        .formatted(file, cause),
                cause);
    }

    /**
     * Whether parquet-java rejects the bytes, for which it throws unchecked exceptions of many
     * classes, and wraps those of Thrift. Other exceptions are of the file system.
     */
    private static boolean isOfParquet(Exception cause) {
        return cause instanceof IOException
                ? cause.getCause() instanceof TException
                : !(cause.getCause() instanceof IOException);
    }

    /** Returns the message, with a place for the values. */
    private static String message(long lengthBytes, String start, String end, Exception cause) {
        if (lengthBytes == 0) {
            return "File is empty, and so not a Parquet file: %s. Delete it, or write it again.";
        }
        if (lengthBytes < SMALLEST_BYTES) {
            return "File is too short for a Parquet file: %s. Delete it, or write it again.";
        }
        if (end.equals(ENCRYPTED_MAGIC)) {
            return "Footer of a Parquet file is encrypted: %s. Write the file without encryption.";
        }
        if (end.equals(MAGIC)) {
            String detail = String.valueOf(cause.getMessage()).replace("%", "%%");
            return "Footer of a Parquet file is damaged: %s, cause="
                    + detail
                    + ". Copy or write the file again.";
        }
        return start.equals(MAGIC)
                ? "Parquet file is truncated, its last 4 bytes are not PAR1: %s. Copy or write it again."
                : "Not a Parquet file, neither its first nor its last 4 bytes are PAR1: %s. Remove it, or read it with its own format.";
    }

    private static String magic(Path file, long offset) throws IOException {
        try (FSDataInputStream in = file.getFileSystem().open(file)) {
            in.seek(offset);
            return new String(in.readNBytes(MAGIC_BYTES), StandardCharsets.ISO_8859_1);
        }
    }
}
