// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import java.io.IOException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.MessageChannelReader;
import org.apache.arrow.vector.ipc.message.MessageResult;

/** The messages of a stream, each of which is inside the file. */
final class ArrowMessages extends MessageChannelReader {

    private final ArrowInput input;

    ArrowMessages(ArrowInput input, BufferAllocator allocator) {
        super(new ReadChannel(input), allocator);
        this.input = input;
    }

    @Override
    public MessageResult readNext() throws IOException {
        input.requireMessage();
        return super.readNext();
    }
}
