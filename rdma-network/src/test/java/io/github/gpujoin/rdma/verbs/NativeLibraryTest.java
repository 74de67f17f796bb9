// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {

    private static final String SHA256_OF_ABC =
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    @TempDir private Path folder;

    private final NativeLibrary abc = new NativeLibrary("here", new byte[] {'a', 'b', 'c'});

    @Test
    void shouldAcceptTheLibraryThatWasBuilt() {
        assertThatCode(() -> abc.requireChecksum(SHA256_OF_ABC)).doesNotThrowAnyException();
    }

    @Test
    void shouldRejectALibraryWithAnotherChecksum() {
        String other = SHA256_OF_ABC.replace('b', 'c');
        assertThatThrownBy(() -> abc.requireChecksum(other))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("origin=here, sha256=" + SHA256_OF_ABC)
                .hasMessageContaining("expected=" + other)
                .hasMessageEndingWith("(NO_LIBRARY)");
    }

    @Test
    void shouldRejectAMissingInstalledLibrary() {
        assertThatThrownBy(() -> NativeLibrary.installed(folder.resolve("libdisni.so")))
                .hasMessageContaining("is not a readable file: gpujoin.rdma.libdisni=")
                .hasMessageEndingWith("(NO_LIBRARY)");
    }

    @Test
    void shouldUseTheInstalledLibraryOfTheProperty() throws IOException {
        Path file = Files.write(folder.resolve("libdisni.so.1"), new byte[] {1, 2});
        System.setProperty(NativeLibrary.LIBRARY_PROPERTY, file.toString());
        try {
            NativeLibrary library = NativeLibrary.find();
            assertThat(library.bytes()).containsExactly(1, 2);
            assertThat(library.origin()).isEqualTo(file.toString());
        } finally {
            System.clearProperty(NativeLibrary.LIBRARY_PROPERTY);
        }
    }

    @Test
    void shouldRejectOtherPlatforms() {
        assertThatThrownBy(() -> NativeLibrary.requirePlatform("Linux", "aarch64"))
                .hasMessageContaining("os.name=Linux, os.arch=aarch64");
        assertThatThrownBy(() -> NativeLibrary.requirePlatform("Mac OS X", "amd64"))
                .hasMessageEndingWith("(NO_LIBRARY)");
    }

    @Test
    void shouldCopyIntoAPrivateFolder() throws IOException {
        Path copy = abc.copyToPrivateFolder();
        try {
            assertThat(copy).hasBinaryContent(abc.bytes());
            assertThat(Files.getPosixFilePermissions(copy.getParent()))
                    .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        } finally {
            Files.delete(copy);
            Files.delete(copy.getParent());
        }
    }

    @Test
    void shouldRejectAFolderThatOthersCanEnter() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x---"));
        assertThatThrownBy(() -> NativeLibrary.requirePrivate(folder))
                .hasMessageContaining("Folder for native libraries is not private")
                .hasMessageContaining("rights=rwx--x---");
    }
}
