package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What this host and this process's rights offer to RDMA, as the kernel tells it in files. */
public final class RdmaHost {

    private static final int CAP_IPC_LOCK = 14;

    private final Path root;

    /**
     * @param root where sys, dev and proc lie: / but in tests
     */
    RdmaHost(Path root) {
        this.root = root;
    }

    /** The host that this process runs on. */
    public static RdmaHost local() {
        return new RdmaHost(Path.of("/"));
    }

    /** Names of the devices that the kernel knows, in order. */
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
     * @throws VerbsException {@link VerbsFailure#NO_DEVICE} unless there is a device that this
     *     process may open
     */
    public void requireDevice() throws IOException {
        if (devices().isEmpty()) {
            throw new VerbsException(
                    VerbsFailure.NO_DEVICE,
                    "RDMA needs a device that the kernel knows: /sys/class/infiniband=empty (load"
                            + " the adapter's driver; Soft-RoCE: rdma link add rxe0 type rxe netdev"
                            + " eth0)");
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
                    "RDMA needs device files that this process may read and write: file=/%s, %s (modprobe %s; in a container, add the device: --device /dev/infiniband)"
                            .formatted(
                                    file,
                                    Files.exists(path) ? "rights=too few" : "found=no",
                                    module));
        }
    }

    /**
     * Bytes of memory that this process may lock (RLIMIT_MEMLOCK), or {@link Long#MAX_VALUE} where
     * nothing limits it.
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
     * @throws VerbsException {@link VerbsFailure#LOCKED_MEMORY} if the limit alone already forbids
     *     a region of this size
     */
    public void requireLockable(long lengthBytes) throws IOException {
        if (lengthBytes > lockedMemoryLimitBytes()) {
            throw lockedMemory(lengthBytes, null);
        }
    }

    /** The failure to report where the kernel refused to lock a region. */
    public VerbsException lockedMemory(long lengthBytes, Throwable cause) throws IOException {
        long limitBytes = lockedMemoryLimitBytes();
        String limit = limitBytes == Long.MAX_VALUE ? "unlimited" : limitBytes + " bytes";
        return new VerbsException(
                VerbsFailure.LOCKED_MEMORY,
                "registered memory must fit the locked-memory limit: region=%d bytes, limit=%s (raise it: ulimit -l, systemd LimitMEMLOCK=infinity, container capability IPC_LOCK or --ulimit memlock=-1)"
                        .formatted(lengthBytes, limit),
                cause);
    }

    private boolean mayLockAnyMemory() throws IOException {
        String effective = field(root.resolve("proc/self/status"), "CapEff:");
        return effective != null
                && (Long.parseUnsignedLong(effective, 16) >>> CAP_IPC_LOCK & 1) == 1;
    }

    private static String field(Path file, String name) throws IOException {
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
