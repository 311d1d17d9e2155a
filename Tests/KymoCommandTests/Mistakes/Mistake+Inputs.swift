import CommandSupport

/// Readings and other input.
extension Mistake {
    private static let reading = Readings.heartRate(second: 0)
    static let inputs: [Mistake] = [
        Mistake(
            "truncated JSON", ["map"], input: "{\"deviceId\":\"watch-1\"", 65, "rejected as invalidJSON (at byte 21)",
            at: "standard input", "the payload is not JSON (RFC 8259); --explain shows what"),
        Mistake(
            "empty input", ["map"], 65, "standard input is empty, or holds no reading", at: "standard input",
            "give one payload"),
        Mistake(
            "no JSON", ["map"], input: "hello", 65, "rejected as invalidJSON (at byte 0)", at: "standard input",
            "the payload is not JSON (RFC 8259); --explain shows what"),
        Mistake(
            "text in quotes", ["map"], input: "\"hello\"", 65, "rejected as noTemplate", at: "standard input",
            "no template of the source's mappings matches; --explain"),
        Mistake(
            "UTF-16 input", ["map"],
            inputBytes: [
                255, 254, 123, 0, 34, 0, 100, 0, 101, 0, 118, 0, 105, 0, 99, 0, 101, 0, 73, 0, 100, 0, 34, 0, 58, 0, 34,
                0, 119, 0, 97, 0, 116, 0, 99, 0, 104, 0, 45, 0, 49, 0, 34, 0, 44, 0, 34, 0, 116, 0, 121, 0, 112, 0, 101,
                0, 34, 0, 58, 0, 34, 0, 104, 0, 101, 0, 97, 0, 114, 0, 116, 0, 82, 0, 97, 0, 116, 0, 101, 0, 34, 0, 44,
                0, 34, 0, 116, 0, 105, 0, 109, 0, 101, 0, 115, 0, 116, 0, 97, 0, 109, 0, 112, 0, 34, 0, 58, 0, 34, 0,
                50, 0, 48, 0, 50, 0, 54, 0, 45, 0, 48, 0, 51, 0, 45, 0, 48, 0, 49, 0, 84, 0, 48, 0, 56, 0, 58, 0, 48, 0,
                48, 0, 58, 0, 48, 0, 48, 0, 90, 0, 34, 0, 44, 0, 34, 0, 118, 0, 97, 0, 108, 0, 117, 0, 101, 0, 34, 0,
                58, 0, 55, 0, 50, 0, 44, 0, 34, 0, 117, 0, 110, 0, 105, 0, 116, 0, 34, 0, 58, 0, 34, 0, 47, 0, 109, 0,
                105, 0, 110, 0, 34, 0, 125, 0,
            ], 65, "rejected as invalidUTF8 (at byte 0)", at: "standard input",
            "the payload is not UTF-8; --explain shows what each"),
        Mistake(
            "Latin-1 input", ["map"],
            inputBytes: [
                123, 34, 100, 101, 118, 105, 99, 101, 73, 100, 34, 58, 34, 104, 228, 117, 115, 101, 114, 34, 125,
            ], 65, "rejected as invalidUTF8 (at byte 14)", at: "standard input",
            "the payload is not UTF-8; --explain shows what each"),
        Mistake(
            "NaN", ["map"],
            input:
                "{\"deviceId\":\"watch-1\",\"type\":\"heartRate\",\"timestamp\":\"2026-03-01T08:00:00Z\",\"value\":NaN,\"unit\":\"/min\"}",
            65, "rejected as invalidJSON (at byte 84)", at: "standard input",
            "the payload is not JSON (RFC 8259); --explain shows what"),
        Mistake(
            "single quotes (input)", ["map"], input: "{'deviceId':'watch-1'}", 65,
            "rejected as invalidJSON (at byte 1)", at: "standard input",
            "the payload is not JSON (RFC 8259); --explain shows what"),
        Mistake(
            "no device", ["map"],
            input:
                "{\"type\": \"heartRate\", \"timestamp\": \"2026-03-01T08:00:00Z\", \"value\": 72, \"unit\": \"/min\"}",
            65, "rejected as noDevice (type heartRate, deviceIdExpression $.deviceId)", at: "standard input",
            "a reading needs a device: the expression gave none and the"),
        Mistake(
            "no time", ["map"],
            input: "{\"deviceId\": \"watch-1\", \"type\": \"heartRate\", \"value\": 72, \"unit\": \"/min\"}", 65,
            "rejected as noTimestamp (type heartRate, timestampExpression", at: "standard input",
            "a reading needs a time, and the expression gave none or"),
        Mistake(
            "time in words", ["map"],
            input:
                "{\"deviceId\": \"watch-1\", \"type\": \"heartRate\", \"timestamp\": \"yesterday\", \"value\": 72, \"unit\": \"/min\"}",
            65, "rejected as invalidTimestamp (type heartRate, timestampExpression", at: "standard input",
            "the time is not in the template's timestampFormat, or"),
        Mistake(
            "time of the future", ["map"],
            input:
                "{\"deviceId\": \"watch-1\", \"type\": \"heartRate\", \"timestamp\": \"2099-03-01T08:00:00Z\", \"value\": 72, \"unit\": \"/min\"}",
            65, "rejected as clockAhead (type heartRate, timestampExpression", at: "standard input",
            "the time lies more than maxFuture after the receipt;"),
        Mistake(
            "value in words", ["map"],
            input:
                "{\"deviceId\": \"watch-1\", \"type\": \"heartRate\", \"timestamp\": \"2026-03-01T08:00:00Z\", \"value\": \"fast\", \"unit\": \"/min\"}",
            65, "rejected as invalidValue (type heartRate, value beatsPerMinute", at: "standard input",
            "the value must be a text or number, and such as the FHIR"),
        Mistake(
            "no value (input)", ["map"],
            input:
                "{\"deviceId\": \"watch-1\", \"type\": \"heartRate\", \"timestamp\": \"2026-03-01T08:00:00Z\", \"unit\": \"/min\"}",
            65, "rejected as missingValue (type heartRate, value beatsPerMinute", at: "standard input",
            "a required value must be there and not blank, and a reading"),
        Mistake(
            "number too large", ["map"],
            input:
                "{\"deviceId\": \"watch-1\", \"type\": \"heartRate\", \"timestamp\": \"2026-03-01T08:00:00Z\", \"value\": 1e+300, \"unit\": \"/min\"}",
            65, "rejected as inexactNumber (type heartRate, value beatsPerMinute", at: "standard input",
            "the number has more than 18 digits, so it cannot be kept"),
        Mistake(
            "everything of a stream rejected", ["run", "--stdin"], input: "{\"a\":1}\n{\"a\":2}\n", 65,
            "the first was rejected as noTemplate", at: "{\"a\":1}", "no template of the source's mappings matches"),
        Mistake(
            "stream of CSV", ["run", "--stdin"], input: "time,device,value\n2026-03-01,watch-1,72\n", 65,
            "it looks like CSV", at: "time,device,value", "add --framing csv"),
        Mistake(
            "CSV without names of columns", ["run", "--stdin", "--payload", "csv"],
            input: "watch-1,heartRate,72\nwatch-1,heartRate,73\n", 65, "the first was rejected as noTemplate",
            at: #""72":73"#, "the first row names the columns: is there one, and does the mapping read these names?"),
        Mistake(
            "CSV of one row", ["run", "--stdin", "--payload", "csv"], input: "watch-1,heartRate,72\n", 0,
            "no row behind the one that names the columns", at: "standard input",
            "begin it with a row of names, or say them"),
        Mistake(
            "CSV with another delimiter", ["run", "--stdin", "--payload", "csv"],
            input: "deviceId;type;value\nwatch-1;heartRate;72\n", 65, "the first was rejected as tableHeader",
            at: "deviceId;type;value", "with the delimiter of the framing (csv,delimiter=semicolon)"),
        Mistake(
            "CSV with a quote that does not end", ["run", "--stdin", "--payload", "csv"],
            input: "deviceId,type,value\nwatch-1,heartRate,\"72\n", 65, "the first was rejected as tableRow",
            at: "heartRate,\"72", "a field for each column of the header row, with quotes as RFC 4180"),
        Mistake(
            "CSV in UTF-16", ["run", "--stdin", "--payload", "csv"],
            inputBytes: [0xFF, 0xFE] + "a,b\n1,2\n".utf8.flatMap { [$0, 0] }, 65,
            "the first was rejected as invalidUTF8", at: #"a\u0000"#, "iconv -f UTF-16 -t UTF-8 FILE"),
        Mistake(
            "sample events rejected", ["check", "--events", "-"], input: "{\"a\":1", 65,
            "the event is rejected as invalidJSON: at byte 6", at: "-:1:1",
            "kymo map --explain shows what each template makes of it"),
        Mistake(
            "event file missing", ["check", "--events", "nowhere.ndjson"], 66,
            "nowhere.ndjson cannot be read: there is no such file", at: "nowhere.ndjson", "name a file of sample events"
        ),
        Mistake(
            "payload missing", ["map", "nowhere.json"], 66, "nowhere.json cannot be read: there is no such file",
            at: "nowhere.json", "name a file or folder of messages"),
        Mistake(
            "recording is a folder", ["replay", "./d", "--stdout"], files: ["d/a": "x"], 66,
            "./d cannot be read: it is a folder", at: "./d", "name a file of NDJSON readings"),
        Mistake(
            "payload not readable", ["map", "a.json"], files: ["a.json": reading], locked: ["a.json"],
            needs: [.ordinaryUser], 77, "a.json cannot be read: permission denied", at: "a.json",
            "let this user read it (chmod, chown)"),
        Mistake(
            "recording missing", ["replay", "nowhere.ndjson", "--stdout"], 66,
            "nowhere.ndjson cannot be read: there is no such file", at: "nowhere.ndjson",
            "name a file of NDJSON readings"),
        Mistake(
            "no recording of packets", ["replay", "night.btsnoop", "--stdout"], files: ["night.btsnoop": "x"], 65,
            "night.btsnoop: this is no btsnoop file, though it is called one: name", at: "night.btsnoop",
            "give --capture for the text of a tool, or NDJSON another"),
        Mistake(
            "document of eval cut off", ["eval", "$.a"], input: "{\"a\":", 65,
            "standard input:1:6: the document is refused", at: "standard input", "invalidJSON at byte 5"),
        Mistake(
            "too few documents", ["dictionary"], input: "{}\n", 65, "too few, or too alike", at: "1 document",
            "give at least 100"),
        Mistake(
            "standard input closed", ["map"], needs: [.closedInput], 66, "standard input cannot be read",
            at: "standard input", "name a file or folder of messages"),
        Mistake(
            "standard input of run closed", ["run", "--stdin"], needs: [.closedInput], 66,
            "cannot be read: it is closed",
            at: "standard input", "redirect a file or a pipe"),
    ]
}
