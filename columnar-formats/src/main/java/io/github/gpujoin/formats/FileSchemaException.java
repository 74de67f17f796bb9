// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats;

import java.io.IOException;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A file lacks a column that its format declares, or has it with a type that cannot be read as the
 * declared one. The message names file, column and types. Another attempt cannot help, so the job
 * does not restart.
 */
@PublicEvolving
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class FileSchemaException extends IOException {

    private static final long serialVersionUID = 1L;

    /**
     * @param problem the column, and what the file has instead
     */
    public FileSchemaException(String problem, Path file) {
        super(message(problem, file));
    }

    /**
     * @param problem names the column, and what the file has instead
     */
    public FileSchemaException(IllegalArgumentException problem, Path file) {
        super(message(problem.getMessage(), file), problem);
    }

    private static String message(String problem, Path file) {
        return problem + ", file=" + file;
    }
}
