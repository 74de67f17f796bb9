// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Kernels that are compiled and loaded together. */
public enum KernelImage {

    /** The serving kernel, and those that build and change tables. */
    ENGINE(
            "engine.fatbin",
            List.of(
                    "gpujoin_serve",
                    "gpujoin_insert_unique",
                    "gpujoin_count_shard",
                    "gpujoin_insert_chained",
                    "gpujoin_group_count",
                    "gpujoin_group_allocate",
                    "gpujoin_group_write",
                    "gpujoin_payload_ranges",
                    "gpujoin_change_claim",
                    "gpujoin_change_settle",
                    "gpujoin_count_rows",
                    "gpujoin_move_rows",
                    "gpujoin_read_references",
                    "gpujoin_write_references")),

    /** The join of two tables in device memory, for words of 32 and of 64 bits. */
    RESIDENT(
            "resident.fatbin",
            with(
                    List.of("gpujoin_resident_join_hashed_64", "gpujoin_resident_mark_hashed_64"),
                    "resident",
                    "plan",
                    "guess_first",
                    "scatter_first_guessed",
                    "clear_first_sampled",
                    "count_first_sampled",
                    "lay_out_first_sampled",
                    "scatter_first_sampled",
                    "clear_first_counted",
                    "count_first_counted",
                    "lay_out_first_counted",
                    "scatter_first_counted",
                    "guess_second",
                    "scatter_second_guessed",
                    "clear_second_sampled",
                    "count_second_sampled",
                    "lay_out_second_sampled",
                    "scatter_second_sampled",
                    "clear_second_counted",
                    "count_second_counted",
                    "lay_out_second_counted",
                    "scatter_second_counted",
                    "map_tiles",
                    "items",
                    "join",
                    "mark")),

    /** What a bulk join does with the row numbers of its results. */
    BULK(
            "bulk.fatbin",
            List.of(
                    "gpujoin_bulk_copy",
                    "gpujoin_bulk_gather_8",
                    "gpujoin_bulk_gather_16",
                    "gpujoin_bulk_gather_32",
                    "gpujoin_bulk_gather_64",
                    "gpujoin_bulk_widen_8",
                    "gpujoin_bulk_widen_16",
                    "gpujoin_bulk_widen_32",
                    "gpujoin_bulk_widen_64",
                    "gpujoin_bulk_count_32",
                    "gpujoin_bulk_count_64",
                    "gpujoin_bulk_divide_32",
                    "gpujoin_bulk_divide_64",
                    "gpujoin_bulk_number_32",
                    "gpujoin_bulk_number_64",
                    "gpujoin_bulk_select",
                    "gpujoin_bulk_aggregate")),

    /** The index of a symmetric join. */
    SYMMETRIC(
            "symmetric.fatbin",
            List.of(
                    "gpujoin_match_probe",
                    "gpujoin_match_publish",
                    "gpujoin_match_add",
                    "gpujoin_match_claim_removals",
                    "gpujoin_match_settle_removals",
                    "gpujoin_match_count_slots",
                    "gpujoin_match_move_slots",
                    "gpujoin_match_copy")),

    /** The sort-merge join of two tables in device memory, for words of 32 and of 64 bits. */
    SORT_MERGE(
            "sort_merge.fatbin",
            ofBothWidths(
                    "sort_merge",
                    "plan",
                    "clear",
                    "check",
                    "sample_first",
                    "count_first",
                    "lay_out_first",
                    "scatter_first",
                    "sample_second",
                    "count_second",
                    "lay_out_second",
                    "scatter_second",
                    "sort",
                    "sort_large",
                    "copy_constants",
                    "plan_tiles",
                    "merge_tiles",
                    "expand_tiles")),

    /** The semi-join of two tables in device memory, for keys of 32 and of 64 bits. */
    SEMI_JOIN(
            "semi_join.fatbin",
            ofBothWidths(
                    "semi_join",
                    "plan_selection",
                    "plan_key_set",
                    "prepare",
                    "select",
                    "measure",
                    "clear",
                    "insert_direct",
                    "insert_hash",
                    "remove_direct",
                    "remove_hash",
                    "emit_direct",
                    "emit_hash")),

    /** The join of tables spread over the devices of a group, for words of 32 and of 64 bits. */
    REPARTITIONED(
            "repartitioned.fatbin",
            ofBothWidths(
                    "repartitioned",
                    "plan",
                    "guess_exchange",
                    "scatter_exchange_guessed",
                    "clear_exchange_sampled",
                    "count_exchange_sampled",
                    "lay_out_exchange_sampled",
                    "scatter_exchange_sampled",
                    "clear_exchange_counted",
                    "count_exchange_counted",
                    "lay_out_exchange_counted",
                    "scatter_exchange_counted",
                    "publish",
                    "map_received",
                    "guess_second",
                    "scatter_second_guessed",
                    "clear_second_sampled",
                    "count_second_sampled",
                    "lay_out_second_sampled",
                    "scatter_second_sampled",
                    "clear_second_counted",
                    "count_second_counted",
                    "lay_out_second_counted",
                    "scatter_second_counted",
                    "items",
                    "join"));

    private static final String FOLDER = "/io/github/gpujoin/kernels/";

    private final String resource;
    private final List<String> kernels;

    KernelImage(String file, List<String> kernels) {
        this.resource = FOLDER + file;
        this.kernels = kernels;
    }

    private static List<String> ofBothWidths(String join, String... names) {
        return with(List.of(), join, names);
    }

    /**
     * Returns the names of kernels of both widths, and others.
     *
     * @param others whole names
     */
    private static List<String> with(List<String> others, String join, String... names) {
        List<String> kernels = new ArrayList<>(others);
        for (String name : names) {
            kernels.add("gpujoin_" + join + "_" + name + "_32");
            kernels.add("gpujoin_" + join + "_" + name + "_64");
        }
        return List.copyOf(kernels);
    }

    /** Returns the names of all kernels of the image. */
    public List<String> kernels() {
        return kernels;
    }

    /** Returns whether the class path contains the image, built for whatever devices. */
    boolean isPresent() {
        return KernelImage.class.getResource(resource) != null;
    }

    /**
     * Checks that the class path contains the image.
     *
     * @throws GpuUnavailableException if not
     */
    void requirePresent() {
        if (!isPresent()) {
            throw new GpuUnavailableException(
                    GpuFailure.NO_KERNEL_IMAGE,
                    "No GPU kernels in the jar: resource="
                            + resource
                            + ". Build it where nvcc is installed.");
        }
    }

    /**
     * Reads the image.
     *
     * @throws GpuUnavailableException if the class path does not contain it
     */
    public byte[] bytes() {
        requirePresent();
        try (InputStream in = KernelImage.class.getResourceAsStream(resource)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new GpuUnavailableException(
                    GpuFailure.NO_KERNEL_IMAGE,
                    "Kernel image cannot be read: resource=" + resource,
                    e);
        }
    }
}
