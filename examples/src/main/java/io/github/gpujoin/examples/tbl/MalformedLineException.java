// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import java.io.IOException;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A line of an input file breaks the file's format; the message names file, line and what was
 * expected. Reading it again cannot help, so the job is not restarted.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class MalformedLineException extends IOException {

    private static final long serialVersionUID = 1L;

    /**
     * @param line counted from 1
     * @param problem what was expected and what was found
     */
    public MalformedLineException(String file, long line, String problem) {
        super("malformed line: file=" + file + ", line=" + line + ", " + problem);
    }
}
