// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Random;

/** A POJO with a field of every kind, and random ones for tests. */
public class AllKinds {

    /** A nested POJO. */
    public static class Point {
        public int x;
        public String label;

        public Point() {}

        public Point(int x, String label) {
            this.x = x;
            this.label = label;
        }
    }

    /** An enum, for Flink's enum serializer. */
    public enum Colour {
        RED,
        GREEN
    }

    public int anInt;
    public long aLong;
    public float aFloat;
    public double aDouble;
    public short aShort;
    public byte aByte;
    public char aChar;
    public boolean aBoolean;
    public Integer boxedInt;
    public Long boxedLong;
    public Float boxedFloat;
    public Double boxedDouble;
    public Short boxedShort;
    public Byte boxedByte;
    public Character boxedChar;
    public Boolean boxedBoolean;
    public String text;
    public byte[] bytes;
    public Instant instant;
    public BigDecimal decimal;
    public Point point;
    public Colour colour;
    public List<Integer> numbers;
    private long bean;
    private String beanText;

    public long getBean() {
        return bean;
    }

    public void setBean(long bean) {
        this.bean = bean;
    }

    public String getBeanText() {
        return beanText;
    }

    public void setBeanText(String beanText) {
        this.beanText = beanText;
    }

    /** A record whose keys {@link #anInt} and {@link #boxedLong} are small numbers. */
    public static AllKinds random(Random random, int keys) {
        AllKinds record = new AllKinds();
        record.anInt = random.nextInt(keys);
        record.aLong = random.nextLong();
        record.aFloat = Float.intBitsToFloat(random.nextInt());
        record.aDouble = Double.longBitsToDouble(random.nextLong());
        record.aShort = (short) random.nextInt();
        record.aByte = (byte) random.nextInt();
        record.aChar = (char) random.nextInt();
        record.aBoolean = random.nextBoolean();
        record.bean = random.nextLong();
        record.boxedLong = maybe(random, (long) random.nextInt(keys));
        record.boxedInt = maybe(random, random.nextInt());
        record.boxedFloat = maybe(random, random.nextFloat());
        record.boxedDouble = maybe(random, random.nextGaussian());
        record.boxedShort = maybe(random, (short) random.nextInt());
        record.boxedByte = maybe(random, (byte) random.nextInt());
        record.boxedChar = maybe(random, (char) random.nextInt());
        record.boxedBoolean = maybe(random, random.nextBoolean());
        record.text = maybe(random, text(random));
        record.beanText = maybe(random, text(random));
        record.bytes = maybe(random, bytes(random));
        record.instant = maybe(random, Instant.ofEpochSecond(random.nextInt(), random.nextInt(9)));
        record.decimal = maybe(random, BigDecimal.valueOf(random.nextLong(), random.nextInt(20)));
        record.point = maybe(random, new Point(random.nextInt(), maybe(random, text(random))));
        record.colour = maybe(random, random.nextBoolean() ? Colour.RED : Colour.GREEN);
        record.numbers = maybe(random, random.ints(random.nextInt(5)).boxed().toList());
        return record;
    }

    private static <V> V maybe(Random random, V value) {
        return random.nextInt(5) == 0 ? null : value;
    }

    /** Text of characters of one to four UTF-8 bytes. */
    public static String text(Random random) {
        String alphabet = "abcdef,\"|äß€\uD83D\uDE00";
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(12);
        for (int i = 0; i < length; i++) {
            int point = random.nextInt(alphabet.codePointCount(0, alphabet.length()));
            text.appendCodePoint(alphabet.codePointAt(alphabet.offsetByCodePoints(0, point)));
        }
        return text.toString();
    }

    private static byte[] bytes(Random random) {
        byte[] bytes = new byte[random.nextInt(20)];
        random.nextBytes(bytes);
        return bytes;
    }
}
