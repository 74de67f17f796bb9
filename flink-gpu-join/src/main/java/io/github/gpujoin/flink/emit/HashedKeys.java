// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.flink.record.SelectedKey;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The keys of two sides that an engine has compared by their hash only, so that each pair it finds
 * is compared once more.
 */
public record HashedKeys<A, B>(SelectedKey<A, ?> build, SelectedKey<B, ?> probe)
        implements Serializable {

    Verifier<A, B> verifier() {
        return new Verifier<>(build.reader(), probe.reader());
    }

    /** Compares one probe record with its candidates. Not thread-safe. */
    static final class Verifier<A, B> {
        private final SelectedKey.Reader<A, ?> build;
        private final SelectedKey.Reader<B, ?> probe;
        private B probed;

        /** Canonical bytes of the probe record's key, or null before they are needed. */
        private byte @Nullable [] probeKey;

        private Verifier(SelectedKey.Reader<A, ?> build, SelectedKey.Reader<B, ?> probe) {
            this.build = build;
            this.probe = probe;
        }

        /** Sets the probe record of the candidates that follow. */
        void probe(B record) {
            probed = record;
            probeKey = null;
        }

        boolean matches(A candidate) throws Exception {
            if (build.hasEqualTexts(candidate, probe, probed)) {
                return true;
            }
            if (probeKey == null) {
                probeKey = probe.canonical(probed);
            }
            return build.isCanonical(candidate, probeKey);
        }
    }
}
