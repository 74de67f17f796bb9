// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.SecurityOptions;

/** Options of Flink's internal SSL with a new key, which trust its certificate only. */
final class InternalSsl {

    private static final String PASSWORD = "changeit";

    private InternalSsl() {}

    /**
     * @param name of the key, which the first call creates in the directory
     */
    static Configuration configuration(Path directory, String name) throws Exception {
        File store = directory.resolve(name + ".p12").toFile();
        if (!Files.exists(store.toPath())) {
            make(store, name);
        }
        Configuration config = new Configuration();
        config.set(SecurityOptions.SSL_INTERNAL_ENABLED, true);
        config.set(SecurityOptions.SSL_INTERNAL_KEYSTORE, store.toString());
        config.set(SecurityOptions.SSL_INTERNAL_KEYSTORE_PASSWORD, PASSWORD);
        config.set(SecurityOptions.SSL_INTERNAL_KEY_PASSWORD, PASSWORD);
        config.set(SecurityOptions.SSL_INTERNAL_TRUSTSTORE, store.toString());
        config.set(SecurityOptions.SSL_INTERNAL_TRUSTSTORE_PASSWORD, PASSWORD);
        return config;
    }

    /** Creates a key as Flink's documentation describes. */
    private static void make(File store, String name) throws Exception {
        String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Process process =
                new ProcessBuilder(
                                (keytool
                                                + " -genkeypair -alias flink.internal -keyalg RSA"
                                                + " -keysize 2048 -storetype PKCS12 -dname CN="
                                                + name
                                                + " -storepass "
                                                + PASSWORD
                                                + " -keystore "
                                                + store)
                                        .split(" "))
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        assertThat(process.waitFor()).isZero();
    }
}
