// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.shm;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.OwnedResources;
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
 * A file in memory that two processes map: the reader creates it, the writer opens it once.
 *
 * <p>The file has a name only until the writer opens it. The writer removes the name; the memory
 * lasts as long as a mapping. The creator holds a file lock, which the operating system releases
 * when the process ends. So a file of this project that is not new and not locked is orphaned, and
 * {@link #sweep} removes it.
 *
 * <p>Every user can write to the directory, so a name proves nothing: opening a FIFO of that name
 * would block forever. {@link #isRing} checks type, owner and permissions before a file is opened.
 * The check still holds afterwards: in a directory with the sticky bit, only this user can replace
 * a file of this user.
 */
final class SharedFile implements Target, OwnedResources.Item {

    private static final String PREFIX = "gpu-join-ring-";

    /** The name is random and serves as the key. */
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{32}");

    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rw-------");
    private static final FileAttribute<?> OWNER_ONLY_ATTRIBUTE =
            PosixFilePermissions.asFileAttribute(OWNER_ONLY);

    /**
     * Younger files are ignored: a writer opens a file within seconds, and its creator may not have
     * locked it yet. Opening a file of this process would also release its lock, since closing any
     * descriptor of a file releases all locks of the process on it.
     */
    private static final Duration ORPHAN_AGE = Duration.ofMinutes(1);

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
     * Returns the user of this process, as the directory's file system names the owner of files.
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
                    "Cannot allocate a ring in shared memory: directory="
                            + directory
                            + ", lengthBytes="
                            + lengthBytes
                            + ", cause="
                            + e.getMessage()
                            + ". Free space there, or enlarge it (docker: --shm-size).",
                    e);
        }
    }

    /** Allocates all pages now: a mapping without memory behind it kills the process on access. */
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
     * @param user owner of every ring
     * @param descriptor untrusted bytes of a peer
     */
    static SharedFile open(Path directory, UserPrincipal user, byte[] descriptor)
            throws TransportException {
        String name = new String(descriptor, StandardCharsets.US_ASCII);
        if (!NAME.matcher(name).matches()) {
            throw new TransportException(
                    "Descriptor names no shared ring: lengthBytes=" + descriptor.length);
        }
        Path path = directory.resolve(name);
        try {
            if (!isRing(attributes(path), user)) {
                throw new TransportException(
                        "Not a ring of this user: path=%s, user=%s. A ring is a regular file with permissions rw-------."
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
                    "Cannot open the peer's ring: path="
                            + path
                            + ", cause="
                            + e
                            + ". Run both processes on one host, as one user, with one directory.",
                    e);
        }
    }

    private static SharedFile map(Path path, FileChannel channel) throws IOException {
        long lengthBytes = channel.size();
        if (lengthBytes < 1 || lengthBytes > Transport.MAX_REGISTERED_BYTES) {
            throw new TransportException(
                    "Ring of a wrong length: path=%s, lengthBytes=%d. Expected 1 byte to 1 GiB."
                            .formatted(path, lengthBytes));
        }
        // Remove the name first: a process that cannot remove it must not map the file.
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
     * Removes files of processes that were killed before a writer opened them.
     *
     * @param user owner of every ring
     */
    static void sweep(Path directory, UserPrincipal user) {
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(
                        directory, file -> NAME.matcher(file.getFileName().toString()).matches())) {
            for (Path file : files) {
                removeIfOrphaned(file, user);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // a user who cannot list the directory has created nothing in it
        }
    }

    private static void removeIfOrphaned(Path file, UserPrincipal user) {
        try {
            PosixFileAttributes attributes = attributes(file);
            Instant newest = Instant.now().minus(ORPHAN_AGE);
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
            // already removed, or locked by this process
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
    public Region region() {
        return region;
    }

    /**
     * If another process of this user truncated the file, an access raises SIGBUS, which the JVM
     * turns into an {@link InternalError} at some later safepoint.
     */
    @Override
    public void requireIntact() throws TransportException {
        long nowBytes;
        try {
            nowBytes = channel.size();
        } catch (IOException e) {
            throw new TransportException(
                    "Cannot read the ring's file: path=" + path + ", cause=" + e, e);
        }
        if (nowBytes < region.lengthBytes()) {
            throw new TransportException(
                    "The ring's file was truncated: path=%s, lengthBytes=%d, currentBytes=%d. Find out what"
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
            // the descriptor is released even so
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
