/** Records or columnar chunks in, chunks of wanted columns out: filters, encoders, radix packer. */
package io.github.gpujoin.flink.pack;
