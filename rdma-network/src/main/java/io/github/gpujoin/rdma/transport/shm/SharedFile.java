package io.github.gpujoin.rdma.transport.shm;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A file in memory that two processes map: made by the reader, opened once by the writer.
 *
 * <p>The file has a name only until the writer opens it: the writer removes the name, the memory
 * lasts as long as a mapping. Its maker holds a lock on it, which the operating system drops with
 * the process; a file of ours that is not new and whose lock is free is therefore left over, and
 * {@link #sweep} removes it.
 *
 * <p>The directory is everybody's, so a name proves nothing: opening a FIFO of that name would
 * block for ever. {@link #isRing} checks type, owner and rights before a file is opened. The check
 * still holds when the file is opened, since in a directory with the sticky bit only this user can
 * replace a file of this user.
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

    /**
     * The user of this process, as files of the directory name their owner.
     *
     * @throws IOException if this process cannot write to the directory
     */
    static UserPrincipal user(Path directory) throws IOException {
        Path probe = newPath(directory);
        try {
            return Files.getOwner(Files.createFile(probe, OWNER_ONLY_ATTRIBUTE));
        } finally {
            deleteQuietly(probe);
        }
    }

    private static Path newPath(Path directory) {
        return directory.resolve(
                String.format("%s%016x%016x", PREFIX, RANDOM.nextLong(), RANDOM.nextLong()));
    }

    static SharedFile create(Path directory, long lengthBytes) throws TransportException {
        Path path = newPath(directory);
        try {
            FileChannel channel =
                    FileChannel.open(
                            path,
                            Set.of(
                                    StandardOpenOption.CREATE_NEW,
                                    StandardOpenOption.READ,
                                    StandardOpenOption.WRITE),
                            OWNER_ONLY_ATTRIBUTE);
            try {
                channel.lock();
                fill(channel, lengthBytes);
                return new SharedFile(path, channel, Region.map(channel, lengthBytes));
            } catch (IOException | RuntimeException | Error e) {
                closeQuietly(channel);
                deleteQuietly(path);
                throw e;
            }
        } catch (IOException e) {
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
     * Removes the name of a peer's file and maps it.
     *
     * @param user that owns every ring
     * @param descriptor a peer's bytes
     */
    static SharedFile open(Path directory, UserPrincipal user, byte[] descriptor)
            throws TransportException {
        String name = new String(descriptor, StandardCharsets.US_ASCII);
        if (!NAME.matcher(name).matches()) {
            throw new TransportException(
                    "a descriptor of shm names a ring: lengthBytes=" + descriptor.length);
        }
        Path path = directory.resolve(name);
        try {
            if (!isRing(attributes(path), user)) {
                throw new TransportException(
                        "Not a ring of this user: path=%s, user=%s. A ring is a regular file, rw-------."
                                .formatted(path, user.getName()));
            }
            FileChannel channel = openExisting(path, StandardOpenOption.READ);
            try {
                return map(path, channel);
            } catch (IOException | RuntimeException | Error e) {
                closeQuietly(channel);
                throw e;
            }
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

    private static SharedFile map(Path path, FileChannel channel) throws IOException {
        long lengthBytes = channel.size();
        if (lengthBytes < 1 || lengthBytes > Transport.MAX_REGISTERED_BYTES) {
            throw new TransportException(
                    "A ring has 1 byte to 1 GiB: path=%s, lengthBytes=%d."
                            .formatted(path, lengthBytes));
        }
        // First the name, then the mapping: whoever cannot remove the name maps nothing.
        Files.delete(path);
        return new SharedFile(path, channel, Region.map(channel, lengthBytes));
    }

    private static PosixFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean isRing(PosixFileAttributes file, UserPrincipal user) {
        return file.isRegularFile()
                && file.owner().equals(user)
                && file.permissions().equals(OWNER_ONLY);
    }

    private static FileChannel openExisting(Path path, OpenOption... more) throws IOException {
        Set<OpenOption> options = new HashSet<>(Set.of(more));
        options.add(StandardOpenOption.WRITE);
        options.add(LinkOption.NOFOLLOW_LINKS);
        return FileChannel.open(path, options);
    }

    /**
     * Removes files of processes that were killed before a writer came.
     *
     * @param user that owns every ring
     */
    static void sweep(Path directory, UserPrincipal user) {
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(
                        directory, file -> NAME.matcher(file.getFileName().toString()).matches())) {
            for (Path file : files) {
                removeIfLeftOver(file, user);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // whoever may not list the directory has left nothing in it
        }
    }

    private static void removeIfLeftOver(Path file, UserPrincipal user) {
        try {
            PosixFileAttributes attributes = attributes(file);
            Instant newest = Instant.now().minus(LEFT_OVER_AGE);
            if (!isRing(attributes, user)
                    || attributes.lastModifiedTime().toInstant().isAfter(newest)) {
                return;
            }
            try (FileChannel channel = openExisting(file);
                    FileLock lock = channel.tryLock()) {
                if (lock != null) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException | OverlappingFileLockException e) {
            // just gone, or this process's own
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

    /**
     * Touching memory behind a file that another process of this user truncated raises SIGBUS,
     * which the JVM turns into an {@link InternalError} at some later safepoint.
     */
    @Override
    public void requireWhole() throws TransportException {
        long nowBytes;
        try {
            nowBytes = channel.size();
        } catch (IOException e) {
            throw new TransportException("The ring's file is lost: path=" + path + ", " + e, e);
        }
        if (nowBytes < region.lengthBytes()) {
            throw new TransportException(
                    "The ring's file was truncated: path=%s, lengthBytes=%d, now=%d. Find out what"
                                    .formatted(path, region.lengthBytes(), nowBytes)
                            + " changes files gpu-join-ring-* of this user.");
        }
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
        try {
            channel.close();
        } catch (IOException e) {
            // the descriptor is gone all the same
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
