// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats;

import java.io.IOException;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A file lacks a column that its format declares, has it with a type that cannot be read as the
 * declared one, or has a null in a column that is declared as not nullable. The message names file
 * and column. Another attempt cannot help, so the job does not restart.
 */
@PublicEvolving
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class FileSchemaException extends IOException {

    private static final long serialVersionUID = 1L;

    /**
     * @param fault what is wrong
     * @param values the column, and what the file has instead
     * @param remedy a sentence without its full stop
     */
    public FileSchemaException(String fault, String values, Path file, String remedy) {
        super("%s: %s, file=%s. %s.".formatted(fault, values, file, remedy));
    }

    /**
     * @param problem names the column, and what the file has instead
     */
    public FileSchemaException(IllegalArgumentException problem, Path file) {
        super(problem.getMessage() + ", file=" + file, problem);
    }
}
