// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The content of libdisni: from the jar, or from an installed library that the user names.
 *
 * <p>The JVM loads it from a copy in a private folder, because it lets only one class loader load a
 * library file, and a TaskManager has a class loader for each job.
 *
 * @param origin source of the bytes, for messages
 */
record NativeLibrary(String origin, byte[] bytes) {

    /** System property: path of an installed libdisni that replaces the one in the jar. */
    static final String LIBRARY_PROPERTY = "gpujoin.rdma.libdisni";

    static final String FILE_NAME = "libdisni.so";

    private static final String RESOURCE = "/io/github/gpujoin/rdma/verbs/linux-amd64/" + FILE_NAME;

    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rwx------");

    /**
     * Reads the library.
     *
     * @throws VerbsException {@link VerbsFailure#NO_LIBRARY} if it is missing or damaged
     */
    static NativeLibrary find() throws IOException {
        String installed = System.getProperty(LIBRARY_PROPERTY);
        return installed == null ? embedded() : installed(Path.of(installed));
    }

    static NativeLibrary installed(Path file) throws IOException {
        if (!Files.isReadable(file) || !Files.isRegularFile(file)) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "Installed native library is not a readable file: "
                            + LIBRARY_PROPERTY
                            + "="
                            + file);
        }
        return new NativeLibrary(file.toString(), Files.readAllBytes(file));
    }

    private static NativeLibrary embedded() throws IOException {
        requirePlatform(System.getProperty("os.name"), System.getProperty("os.arch"));
        byte[] bytes = resource(RESOURCE);
        byte[] checksum = resource(RESOURCE + ".sha256");
        if (bytes == null || checksum == null) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "Jar lacks the native library: resource=%s. Build it where gcc, libibverbs-dev and librdmacm-dev are installed, or use -D%s=/path/%s"
                            .formatted(RESOURCE, LIBRARY_PROPERTY, FILE_NAME));
        }
        NativeLibrary library = new NativeLibrary("jar:" + RESOURCE, bytes);
        library.requireChecksum(new String(checksum, StandardCharsets.US_ASCII).strip());
        return library;
    }

    static void requirePlatform(String system, String architecture) throws VerbsException {
        if (!"Linux".equals(system) || !"amd64".equals(architecture)) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "Unsupported platform: os.name="
                            + system
                            + ", os.arch="
                            + architecture
                            + ". RDMA needs Linux on amd64.");
        }
    }

    /** Whether the jar contains the native library. */
    static boolean isEmbedded() {
        return NativeLibrary.class.getResource(RESOURCE) != null;
    }

    void requireChecksum(String expectedSha256) throws VerbsException {
        String sha256 = HexFormat.of().formatHex(sha256().digest(bytes));
        if (!sha256.equals(expectedSha256)) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "Native library is damaged: origin=%s, sha256=%s, expected=%s. Install the jar again."
                            .formatted(origin, sha256, expectedSha256));
        }
    }

    /**
     * Writes the library into a new private folder under the temporary folder.
     *
     * @return the file; the caller deletes it and its folder after loading
     */
    Path copyToPrivateFolder() throws IOException {
        Path folder =
                Files.createTempDirectory(
                        "gpujoin-rdma-", PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        requirePrivate(folder);
        return Files.write(folder.resolve(FILE_NAME), bytes);
    }

    /** Checks that only this user can put a library into the folder. */
    static void requirePrivate(Path folder) throws IOException {
        Set<PosixFilePermission> rights = Files.getPosixFilePermissions(folder);
        // Not the property user.name: in containers it can be "?".
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Object owner = Files.getAttribute(folder, "unix:uid");
        if (!OWNER_ONLY.equals(rights) || !user.equals(owner)) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "Folder for native libraries is not private: folder=%s, rights=%s, owner=%s, user=%s. Point -Djava.io.tmpdir to a file system with POSIX rights."
                            .formatted(folder, PosixFilePermissions.toString(rights), owner, user));
        }
    }

    private static byte @Nullable [] resource(String name) throws IOException {
        try (InputStream in = NativeLibrary.class.getResourceAsStream(name)) {
            return in == null ? null : in.readAllBytes();
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("JVM lacks SHA-256", e);
        }
    }
}
