// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.shm;

import io.github.gpujoin.rdma.transport.OwnedResources;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.SharedTransport;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;

/**
 * Memory that processes of one host share: a target is a file in memory that both processes map.
 *
 * <p>Only its owner can open the file ({@link SharedFile}). The writer removes the file's name when
 * it maps it; a later process removes files of processes that were killed before. Revoking a key
 * cannot undo a mapping of another process, but no later epoch uses the same memory.
 */
public final class ShmTransport implements SharedTransport {

    public static final Path DEFAULT_DIRECTORY = Path.of("/dev/shm");

    private final Path directory;
    private final UserPrincipal user;
    private final OwnedResources resources = new OwnedResources("shm");

    /**
     * @param directory on a file system in memory
     * @throws TransportException if this process cannot write to the directory
     */
    public ShmTransport(Path directory) throws TransportException {
        try {
            this.user = SharedFile.user(directory);
        } catch (IOException e) {
            throw new TransportException(
                    "Cannot write to the directory of shared rings: directory="
                            + directory
                            + ", cause="
                            + e
                            + ". Use a writable directory in memory.",
                    e);
        }
        this.directory = directory;
        SharedFile.sweep(directory, user);
    }

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public Target registerTarget(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        return resources.add(SharedFile.create(directory, lengthBytes));
    }

    @Override
    public RegisteredMemory map(byte[] descriptor) throws TransportException {
        return resources.add(SharedFile.open(directory, user, descriptor));
    }

    @Override
    public void close() {
        resources.close();
    }
}
