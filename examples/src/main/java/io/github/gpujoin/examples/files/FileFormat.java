package io.github.gpujoin.examples.files;

import java.nio.file.Path;
import java.util.Locale;

/** Formats of files of rows, told apart by the ends of their names. */
public enum FileFormat {
    CSV(new CsvRecordFormat(), "build."),
    AVRO(new AvroRecordFormat(), "build_"),
    PARQUET(new ParquetRecordFormat(), "build_");

    private final RecordFormat records;
    private final String buildPrefix;

    FileFormat(RecordFormat records, String buildPrefix) {
        this.records = records;
        this.buildPrefix = buildPrefix;
    }

    /** By the end of the file's name, CSV where it says nothing else. */
    public static FileFormat of(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        for (FileFormat format : values()) {
            if (name.endsWith("." + format.name().toLowerCase(Locale.ROOT))) {
                return format;
            }
        }
        return CSV;
    }

    RecordFormat records() {
        return records;
    }

    /** Goes before the name of a build column that a probe column has too. */
    String buildPrefix() {
        return buildPrefix;
    }
}
