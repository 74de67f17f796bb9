// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The RDMA devices of this host and the limits of this process, read from the kernel's files. */
public final class RdmaHost {

    private static final int CAP_IPC_LOCK = 14;

    private final Path root;

    /**
     * @param root folder that contains sys, dev and proc: / except in tests
     */
    RdmaHost(Path root) {
        this.root = root;
    }

    /** Returns the host on which this process runs. */
    public static RdmaHost local() {
        return new RdmaHost(Path.of("/"));
    }

    /** Returns the names of the kernel's RDMA devices, sorted. */
    public List<String> devices() throws IOException {
        Path folder = root.resolve("sys/class/infiniband");
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    /**
     * Checks that this process can open an RDMA device.
     *
     * @throws VerbsException {@link VerbsFailure#NO_DEVICE} if it cannot
     */
    public void requireDevice() throws IOException {
        if (devices().isEmpty()) {
            throw new VerbsException(
                    VerbsFailure.NO_DEVICE,
                    "No RDMA device: /sys/class/infiniband=empty. Load the adapter's driver, or for"
                            + " Soft-RoCE: rdma link add rxe0 type rxe netdev eth0");
        }
        requireFile("dev/infiniband/rdma_cm", "rdma_ucm");
        Path folder = root.resolve("dev/infiniband");
        try (Stream<Path> entries = Files.list(folder)) {
            Path verbs =
                    entries.filter(entry -> entry.getFileName().toString().startsWith("uverbs"))
                            .findFirst()
                            .orElse(folder.resolve("uverbs0"));
            requireFile(root.relativize(verbs).toString(), "ib_uverbs");
        }
    }

    private void requireFile(String file, String module) throws VerbsException {
        Path path = root.resolve(file);
        if (!Files.isReadable(path) || !Files.isWritable(path)) {
            throw new VerbsException(
                    VerbsFailure.NO_DEVICE,
                    "Process cannot read and write a device file: file=/%s, %s. Run modprobe %s, or start the container with --device /dev/infiniband"
                            .formatted(
                                    file,
                                    Files.exists(path) ? "rights=too few" : "found=no",
                                    module));
        }
    }

    /**
     * Returns how many bytes of memory this process may lock (RLIMIT_MEMLOCK), or {@link
     * Long#MAX_VALUE} without a limit.
     */
    public long lockedMemoryLimitBytes() throws IOException {
        if (mayLockAnyMemory()) {
            return Long.MAX_VALUE;
        }
        String limit = field(root.resolve("proc/self/limits"), "Max locked memory");
        return limit == null || limit.startsWith("unlimited")
                ? Long.MAX_VALUE
                : Long.parseLong(limit.split("\\s+")[0]);
    }

    /**
     * Checks a length against the limit of locked memory.
     *
     * @throws VerbsException {@link VerbsFailure#LOCKED_MEMORY} if the region exceeds it
     */
    public void requireLockable(long lengthBytes) throws IOException {
        if (lengthBytes > lockedMemoryLimitBytes()) {
            throw lockedMemory(lengthBytes, null);
        }
    }

    /** Creates the exception for a region that the kernel refused to lock. */
    public VerbsException lockedMemory(long lengthBytes, @Nullable Throwable cause)
            throws IOException {
        long limitBytes = lockedMemoryLimitBytes();
        String limit = limitBytes == Long.MAX_VALUE ? "unlimited" : limitBytes + " bytes";
        return new VerbsException(
                VerbsFailure.LOCKED_MEMORY,
                "Region exceeds the locked-memory limit: region=%d bytes, limit=%s. Raise it: ulimit -l, systemd LimitMEMLOCK=infinity, container capability IPC_LOCK or --ulimit memlock=-1"
                        .formatted(lengthBytes, limit),
                cause);
    }

    private boolean mayLockAnyMemory() throws IOException {
        String effective = field(root.resolve("proc/self/status"), "CapEff:");
        return effective != null
                && (Long.parseUnsignedLong(effective, 16) >>> CAP_IPC_LOCK & 1) == 1;
    }

    private static @Nullable String field(Path file, String name) throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).strip())
                    .findFirst()
                    .orElse(null);
        }
    }
}
