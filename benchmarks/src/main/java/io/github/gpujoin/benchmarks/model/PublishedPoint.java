// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.util.Locale;

/**
 * A figure of a paper, or a measurement of this project, beside that of the model.
 *
 * @param id short name, unique
 * @param source paper and section, or result file
 * @param approximate true if the source itself rounds: "approximately", "about"
 * @param remark why the model differs; empty if there is nothing to add
 */
public record PublishedPoint(
        String id,
        String source,
        String what,
        double published,
        double modelled,
        String unit,
        boolean approximate,
        Use use,
        String remark) {

    /** Highest difference of a point that the model claims to reproduce, in percent. */
    public static final double LIMIT_PERCENT = 15;

    /** What a point is for. */
    public enum Use {
        /** A constant was fitted to it. */
        FITTED,
        /** No constant was fitted to it. */
        VALIDATED,
        /** The source states an effect without a figure, so the model omits it. Has a remark. */
        BEYOND;

        /** Returns the name in lower case. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static PublishedPoint fitted(
            String id, String source, String what, double published, double modelled, String unit) {
        return new PublishedPoint(
                id, source, what, published, modelled, unit, false, Use.FITTED, "");
    }

    static PublishedPoint validated(
            String id, String source, String what, double published, double modelled, String unit) {
        return new PublishedPoint(
                id, source, what, published, modelled, unit, false, Use.VALIDATED, "");
    }

    PublishedPoint approximately() {
        return new PublishedPoint(id, source, what, published, modelled, unit, true, use, remark);
    }

    PublishedPoint because(String reason) {
        return new PublishedPoint(
                id, source, what, published, modelled, unit, approximate, use, reason);
    }

    PublishedPoint beyond(String reason) {
        return new PublishedPoint(
                id, source, what, published, modelled, unit, approximate, Use.BEYOND, reason);
    }

    /** Returns the difference of the model from the source, in percent of the source. */
    public double errorPercent() {
        return 100 * (modelled - published) / published;
    }

    /** Returns whether the model reproduces the point, or makes no claim to. */
    public boolean isAcceptable() {
        return use == Use.BEYOND || Math.abs(errorPercent()) <= LIMIT_PERCENT;
    }

    /** Returns {@code ok}, {@code failed}, or {@code explained} for a point beyond the model. */
    public String check() {
        if (use == Use.BEYOND) {
            return "explained";
        }
        return isAcceptable() ? "ok" : "failed";
    }
}
