// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import java.io.IOException;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A line of an input file breaks the file's format. The message names file, line and what was
 * expected. Another attempt cannot help, so the job does not restart.
 */
@PublicEvolving
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
