// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.record.RecordKind;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.types.Row;

/** Creates emitters. Invalid columns and types are rejected when the job is built. */
public final class ResultEmitters {

    private ResultEmitters() {}

    /** Emits Rows of the type {@link ResultColumns#rowType}; fields have names. */
    public static ResultEmitterFactory<Row> rows(ResultColumns columns) {
        return context ->
                new RecordEmitter<>(
                        columns.spec(), new RowAssembler(columns.spec(), columns.fields()));
    }

    /**
     * Records with named fields: POJOs, RowData or Avro records.
     *
     * @throws IllegalArgumentException where the type is of none of these, or a column has no field
     *     of its name and type, or a field that must hold something may be left without
     */
    public static <T> ResultEmitterFactory<T> records(
            ResultColumns columns, TypeInformation<T> type) {
        return switch (RecordKind.of(type)) {
            case ROW_DATA -> {
                ResultColumns.requireFields(type, columns.fields());
                RowDataAssembler.check(columns, type);
                yield context ->
                        new RecordEmitter<>(columns.spec(), new RowDataAssembler<>(columns, type));
            }
            case AVRO -> {
                ResultColumns.requireFields(type, columns.fields());
                AvroAssembler.check(columns, type);
                yield context ->
                        new RecordEmitter<>(columns.spec(), new AvroAssembler<>(columns, type));
            }
            default -> pojos(columns, type);
        };
    }

    /**
     * POJOs, filled by field name. Fields that are no result column stay as the constructor leaves
     * them; a null of a record's own for a primitive field fails the job.
     *
     * @throws IllegalArgumentException where the type is no POJO, or a column has no field of its
     *     name and type, or a primitive one where a fact may have no match
     */
    private static <T> ResultEmitterFactory<T> pojos(
            ResultColumns columns, TypeInformation<T> type) {
        PojoAssembler.check(type, columns.fields());
        PojoAssembler.checkNulls(type, columns);
        return context ->
                new RecordEmitter<>(
                        columns.spec(),
                        new PojoAssembler<>(columns.spec(), columns.fields(), type));
    }

    /**
     * Chunks with the schema {@link ResultColumns#schema}. If Flink's object reuse is enabled, the
     * memory of a chunk is reused after it was emitted.
     *
     * @param chunkBytes payload at which a chunk is full
     * @param keepsEncoding whether columns stay encoded where facts and results are encoded
     */
    public static ResultEmitterFactory<Chunk> chunks(
            ResultColumns columns, int chunkBytes, boolean keepsEncoding) {
        return context ->
                new ChunkEmitter(
                        columns, chunkBytes, context.isObjectReuseEnabled(), keepsEncoding);
    }

    /**
     * The same results, of a join that compares keys of some dimensions by their hashes.
     *
     * @param spec of the engine, which gives candidates
     */
    public static <T> ResultEmitterFactory<T> verified(
            JoinSpec spec, List<HashedDimension> dimensions, ResultEmitterFactory<T> results) {
        return context ->
                new CollisionCheckingStarEmitter<>(spec, dimensions, results.create(context));
    }

    /** Rows of groups, with the type {@link GroupFields#rowType}. */
    public static ResultEmitterFactory<Row> groups(GroupFields fields) {
        return context -> new GroupEmitter(fields);
    }

    /**
     * Parts of groups, with the type {@link GroupFields#rowType}, that are added up from result
     * rows.
     *
     * @param columns of the groups
     * @param factors of each sum; none for a count
     */
    public static ResultEmitterFactory<Row> partialGroups(
            JoinSpec spec,
            List<OutputField> columns,
            List<List<OutputField>> factors,
            GroupFields fields) {
        return context -> new PartialGroupEmitter(spec, columns, factors, fields);
    }

    /**
     * What a function makes of two sides' records.
     *
     * @param spec of a join with one dimension
     * @param build layout of the dimension's records, whole
     * @param probe layout of the facts' records, whole
     */
    public static <A, B, R> ResultEmitterFactory<R> function(
            JoinSpec spec,
            RecordLayout<A> build,
            RecordLayout<B> probe,
            PairJoinSpec<A, B, R> join) {
        if (!build.isWhole()
                || !probe.isWhole()
                || spec.dimensions().size() != 1
                || !spec.dimensions().get(0).schema().equals(build.schema())
                || !spec.factSchema().equals(probe.schema())) {
            throw new IllegalArgumentException(
                    "Schemas differ from the records of the join function: build="
                            + build.schema()
                            + ", probe="
                            + probe.schema());
        }
        if (spec.dimensions().get(0).kind() != join.kind().withAllMatches(join.isVerified())) {
            throw new IllegalArgumentException(
                    "The engine joins by another kind than the join function: kind="
                            + join.kind()
                            + ", withAllMatches="
                            + spec.dimensions().get(0).kind());
        }
        return context -> {
            RecordAssembler<B> probes =
                    RecordAssembler.of(spec, ChunkDescriptor.FACTS, probe, join.function());
            return join.isVerified()
                    ? new CollisionCheckingPairEmitter<>(spec, build, probes, join, context)
                    : new FunctionEmitter<>(
                            spec,
                            RecordAssembler.ofBuild(spec, build, join.function()),
                            probes,
                            join.function(),
                            context);
        };
    }
}
