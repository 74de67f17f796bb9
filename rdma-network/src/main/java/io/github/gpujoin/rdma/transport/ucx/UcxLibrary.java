package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openucx.jucx.NativeLibs;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpParams;

/**
 * Loads JUCX, which holds its own native half but not UCX itself.
 *
 * <p>JUCX copies its library to a temporary folder of its own for each class loader, so that every
 * job of a TaskManager has it; UCX is loaded once for all of them. JUCX would delete its copies
 * when the JVM ends by itself, and never where that is killed, so they are deleted once loaded.
 */
final class UcxLibrary {

    /**
     * Came with UCX 1.12, which is what JUCX 1.12.1 calls; a call to a missing one ends the JVM.
     */
    private static final String FUNCTION_OF_1_12 = "ucp_worker_address_query";

    /** What the kernel tells of this process's memory. */
    private static final Path MAPS = Path.of("/proc/self/maps");

    /** JUCX's own copy of its library, as it names it. */
    private static final Pattern COPY = Pattern.compile("/.*/jucx\\d+/libjucx\\.so$");

    private static final String INSTALL = "apt-get install libucx0";

    private UcxLibrary() {}

    /**
     * @throws TransportException where a library is missing or too old, or there is none of the
     *     transports asked for; each says what to do
     */
    static UcpContext open(UcxOptions options) throws TransportException {
        load();
        UcpParams params =
                new UcpParams()
                        .requestRmaFeature()
                        .requestWakeupFeature()
                        .setMtWorkersShared(true)
                        .setConfig("TLS", options.tls())
                        .setConfig("NET_DEVICES", options.netDevices());
        try {
            return new UcpContext(params);
        } catch (UcxException e) {
            throw new TransportException(
                    "ucx needs one of the transports asked for: transports="
                            + options.transports()
                            + ", devices="
                            + options.netDevices()
                            + ", cause="
                            + e.getMessage()
                            + " (ucx_info -d, of the package ucx-utils, lists what there is)",
                    e);
        }
    }

    /** Loads the libraries; cheap once they are. */
    static void load() throws TransportException {
        try {
            NativeLibs.load();
        } catch (UnsatisfiedLinkError e) {
            throw missing(e.getMessage(), e);
        } catch (NoClassDefFoundError e) {
            throw new TransportException(
                    "ucx needs JUCX on the class path: artifact=org.openucx:jucx:1.12.1", e);
        }
        requireCurrent(loadedUcp(MAPS));
        deleteCopies(MAPS);
    }

    static TransportException missing(String cause, Throwable error) {
        boolean isUcxMissing = cause.contains("cannot open shared object file");
        return new TransportException(
                "ucx needs the libraries of UCX 1.12 or later: cause="
                        + cause
                        + (isUcxMissing
                                ? " (install them: " + INSTALL + ")"
                                : " (JUCX's own library is for Linux on amd64, and is unpacked to"
                                        + " java.io.tmpdir, which must allow execution)"),
                error);
    }

    /**
     * @throws TransportException where the library is of an earlier UCX
     */
    static void requireCurrent(Path ucp) throws TransportException {
        String library;
        try {
            library = Files.readString(ucp, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new TransportException("UCX's version cannot be read: library=" + ucp, e);
        }
        if (!library.contains(FUNCTION_OF_1_12)) {
            throw new TransportException(
                    "ucx needs UCX 1.12 or later: library="
                            + ucp
                            + ", missing="
                            + FUNCTION_OF_1_12
                            + " (install a later one: "
                            + INSTALL
                            + " on Debian 12)");
        }
    }

    /**
     * File of the UCX that this process has loaded.
     *
     * @param maps what the kernel tells of a process's memory
     */
    static Path loadedUcp(Path maps) throws TransportException {
        try {
            for (String line : Files.readAllLines(maps)) {
                if (line.contains("/libucp.so")) {
                    return Path.of(line.substring(line.indexOf('/')));
                }
            }
        } catch (IOException e) {
            throw new TransportException("UCX's library cannot be found: maps=" + maps, e);
        }
        throw missing("libucp.so.0 is not loaded", null);
    }

    /**
     * Deletes the copies of JUCX's library that are loaded, with their folders; they stay loaded.
     *
     * @param maps what the kernel tells of a process's memory
     */
    static void deleteCopies(Path maps) throws TransportException {
        try {
            for (String line : Files.readAllLines(maps)) {
                Matcher copy = COPY.matcher(line);
                if (copy.find() && Files.deleteIfExists(Path.of(copy.group()))) {
                    Files.deleteIfExists(Path.of(copy.group()).getParent());
                }
            }
        } catch (IOException e) {
            throw new TransportException("JUCX's copies cannot be deleted: maps=" + maps, e);
        }
    }
}
