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

/**
 * The bytes of libdisni: those in the jar, or those of an installed library that the user points
 * to.
 *
 * <p>It is loaded from a copy in a folder of its own, which no other user can write: the JVM lets a
 * library file be loaded by one class loader only, and a TaskManager has one for each job.
 *
 * @param origin where the bytes are from, for messages
 */
record NativeLibrary(String origin, byte[] bytes) {

    /** Names an installed libdisni to use in place of the one in the jar. */
    static final String LIBRARY_PROPERTY = "gpujoin.rdma.libdisni";

    static final String FILE_NAME = "libdisni.so";

    private static final String RESOURCE = "/io/github/gpujoin/rdma/verbs/linux-amd64/" + FILE_NAME;

    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rwx------");

    /**
     * @throws VerbsException {@link VerbsFailure#NO_LIBRARY} where there is none, or one that is
     *     not what was built
     */
    static NativeLibrary find() throws IOException {
        String installed = System.getProperty(LIBRARY_PROPERTY);
        return installed == null ? embedded() : installed(Path.of(installed));
    }

    static NativeLibrary installed(Path file) throws IOException {
        if (!Files.isReadable(file) || !Files.isRegularFile(file)) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "the library pointed to must be a readable file: "
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
                    "the native library is in the jar only if it was built where gcc, libibverbs-dev and librdmacm-dev are: resource=%s (build again there, or point to an installed one: -D%s=/path/%s)"
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
                    "RDMA needs Linux on amd64: os.name=" + system + ", os.arch=" + architecture);
        }
    }

    /** Whether the jar holds natives. */
    static boolean isEmbedded() {
        return NativeLibrary.class.getResource(RESOURCE) != null;
    }

    void requireChecksum(String expectedSha256) throws VerbsException {
        String sha256 = HexFormat.of().formatHex(sha256().digest(bytes));
        if (!sha256.equals(expectedSha256)) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "the native library must be the one that was built: origin=%s, sha256=%s, expected=%s (the jar is damaged: install it again)"
                            .formatted(origin, sha256, expectedSha256));
        }
    }

    /**
     * Writes the library into a new private folder under the temporary folder.
     *
     * @return the file; whoever loads it deletes it and its folder
     */
    Path copyToPrivateFolder() throws IOException {
        Path folder =
                Files.createTempDirectory(
                        "gpujoin-rdma-", PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        requirePrivate(folder);
        return Files.write(folder.resolve(FILE_NAME), bytes);
    }

    /** The folder is this user's, and no one else can put a library into it. */
    static void requirePrivate(Path folder) throws IOException {
        Set<PosixFilePermission> rights = Files.getPosixFilePermissions(folder);
        // A process's own user, which the property user.name need not name: in containers it is
        // "?".
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Object owner = Files.getAttribute(folder, "unix:uid");
        if (!OWNER_ONLY.equals(rights) || !user.equals(owner)) {
            throw new VerbsException(
                    VerbsFailure.NO_LIBRARY,
                    "natives are loaded from a folder that is this user's alone: folder=%s, rights=%s, owner=%s, user=%s (point -Djava.io.tmpdir to a file system with POSIX rights)"
                            .formatted(folder, PosixFilePermissions.toString(rights), owner, user));
        }
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = NativeLibrary.class.getResourceAsStream(name)) {
            return in == null ? null : in.readAllBytes();
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
