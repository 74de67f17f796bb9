package io.github.gpujoin.rdma.transport.shm;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A file in memory that two processes map: made by the reader, opened once by the writer.
 *
 * <p>The file has a name only until the writer has mapped it: the writer removes the name, the
 * memory lasts as long as a mapping. Its maker holds a lock on it, which the operating system drops
 * with the process; a file of ours that is not new and whose lock is free is therefore left over,
 * and {@link #sweep} removes it.
 */
final class SharedFile implements Target, GivenOut.Item {

    private static final String PREFIX = "gpu-join-ring-";

    /** The name is random, so it is the key, too. */
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{32}");

    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rw-------");
    private static final FileAttribute<?> OWNER_ONLY_ATTRIBUTE =
            PosixFilePermissions.asFileAttribute(OWNER_ONLY);

    /**
     * A writer comes within seconds, so younger files are not looked at: one may not be locked yet,
     * and a look by its own process would drop the lock (closing any descriptor of a file drops all
     * that the process holds on it).
     */
    private static final Duration LEFT_OVER_AGE = Duration.ofMinutes(1);

    private static final int ZEROS_BYTES = 1 << 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path path;
    private final FileChannel channel;
    private final Region region;
    private volatile boolean closed;

    private SharedFile(Path path, FileChannel channel, Region region) {
        this.path = path;
        this.channel = channel;
        this.region = region;
    }

    static SharedFile create(Path directory, long lengthBytes) throws TransportException {
        Path path =
                directory.resolve(
                        String.format(
                                "%s%016x%016x", PREFIX, RANDOM.nextLong(), RANDOM.nextLong()));
        FileChannel channel = null;
        try {
            channel =
                    FileChannel.open(
                            path,
                            Set.of(
                                    StandardOpenOption.CREATE_NEW,
                                    StandardOpenOption.READ,
                                    StandardOpenOption.WRITE),
                            OWNER_ONLY_ATTRIBUTE);
            channel.lock();
            fill(channel, lengthBytes);
            return new SharedFile(path, channel, Region.map(channel, lengthBytes));
        } catch (IOException e) {
            closeQuietly(channel);
            deleteQuietly(path);
            throw new TransportException(
                    "shm needs room for the ring (docker: --shm-size): directory="
                            + directory
                            + ", lengthBytes="
                            + lengthBytes
                            + ", "
                            + e.getMessage(),
                    e);
        }
    }

    /**
     * Takes the memory now: a mapping without memory behind it kills the process at first touch.
     */
    private static void fill(FileChannel channel, long lengthBytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS_BYTES);
        for (long at = 0; at < lengthBytes; ) {
            zeros.clear().limit((int) Math.min(ZEROS_BYTES, lengthBytes - at));
            at += channel.write(zeros, at);
        }
    }

    /**
     * Maps a peer's file and removes its name.
     *
     * @param descriptor a peer's bytes
     */
    static Region open(Path directory, byte[] descriptor) throws TransportException {
        String name = new String(descriptor, StandardCharsets.US_ASCII);
        if (!NAME.matcher(name).matches()) {
            throw new TransportException(
                    "a descriptor of shm names a ring: lengthBytes=" + descriptor.length);
        }
        Path path = directory.resolve(name);
        try (FileChannel channel =
                FileChannel.open(
                        path,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS)) {
            if (!Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS)
                    .equals(OWNER_ONLY)) {
                throw new TransportException("a ring is its owner's alone: path=" + path);
            }
            Region region = Region.map(channel, channel.size());
            Files.delete(path);
            return region;
        } catch (TransportException e) {
            throw e;
        } catch (IOException e) {
            throw new TransportException(
                    "shm joins processes of one host and user that share a directory: path="
                            + path
                            + ", "
                            + e,
                    e);
        }
    }

    /** Removes files of processes that were killed before a writer came. */
    static void sweep(Path directory) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
            for (Path file : files) {
                if (!isNew(file)) {
                    removeIfLeftOver(file);
                }
            }
        } catch (IOException e) {
            // whoever may not list the directory has left nothing in it
        }
    }

    private static boolean isNew(Path file) {
        try {
            return Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)
                    .toInstant()
                    .isAfter(Instant.now().minus(LEFT_OVER_AGE));
        } catch (IOException e) {
            return true; // it is just gone
        }
    }

    private static void removeIfLeftOver(Path file) {
        try (FileChannel channel =
                        FileChannel.open(
                                file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
                FileLock lock = channel.tryLock()) {
            if (lock != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | OverlappingFileLockException e) {
            // another user's, just gone, or this process's own
        }
    }

    @Override
    public long address() {
        return region.address();
    }

    @Override
    public long lengthBytes() {
        return region.lengthBytes();
    }

    @Override
    public byte[] descriptor() {
        return path.getFileName().toString().getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        closed = true;
        region.close();
        deleteQuietly(path);
        closeQuietly(channel);
    }

    private static void closeQuietly(FileChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // the descriptor is gone all the same
            }
        }
    }

    private static void deleteQuietly(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // the next sweep removes it
        }
    }
}
