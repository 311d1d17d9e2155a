/// Files and folders of mappings.
extension Mistake {
    static let mappings: [Mistake] = [
        Mistake(
            "no FHIR file", ["check", "./m", "--strict"], files: ["m/device.json": MappingText.device], 78,
            "./m/fhir.json is missing", at: "--mapping", "a mapping is a folder with device.json and fhir.json"),
        Mistake(
            "no device file", ["check", "./m", "--strict"], files: ["m/fhir.json": MappingText.fhir], 78,
            "./m/device.json is missing", at: "--mapping", "a mapping is a folder with device.json and fhir.json"),
        Mistake(
            "two device files", ["check", "./m/", "--strict"],
            files: ["m/a.json": MappingText.device, "m/b.json": MappingText.device], 78,
            "./m/a.json and ./m/b.json both have \"templateType\": \"CollectionContent\"", at: "--mapping",
            "keep one of them there, or name the two files with"),
        Mistake(
            "mapping in UTF-16", ["check", "./m", "--strict"], files: ["m/fhir.json": MappingText.fhir],
            bytes: [
                "m/device.json": [
                    255, 254, 123, 0, 34, 0, 116, 0, 101, 0, 109, 0, 112, 0, 108, 0, 97, 0, 116, 0, 101, 0, 84, 0, 121,
                    0, 112, 0, 101, 0, 34, 0, 58, 0, 32, 0, 34, 0, 67, 0, 111, 0, 108, 0, 108, 0, 101, 0, 99, 0, 116, 0,
                    105, 0, 111, 0, 110, 0, 67, 0, 111, 0, 110, 0, 116, 0, 101, 0, 110, 0, 116, 0, 34, 0, 44, 0, 32, 0,
                    34, 0, 116, 0, 101, 0, 109, 0, 112, 0, 108, 0, 97, 0, 116, 0, 101, 0, 34, 0, 58, 0, 32, 0, 91, 0,
                    10, 0, 32, 0, 32, 0, 123, 0, 34, 0, 116, 0, 101, 0, 109, 0, 112, 0, 108, 0, 97, 0, 116, 0, 101, 0,
                    84, 0, 121, 0, 112, 0, 101, 0, 34, 0, 58, 0, 32, 0, 34, 0, 74, 0, 115, 0, 111, 0, 110, 0, 80, 0, 97,
                    0, 116, 0, 104, 0, 67, 0, 111, 0, 110, 0, 116, 0, 101, 0, 110, 0, 116, 0, 34, 0, 44, 0, 32, 0, 34,
                    0, 116, 0, 101, 0, 109, 0, 112, 0, 108, 0, 97, 0, 116, 0, 101, 0, 34, 0, 58, 0, 32, 0, 123, 0, 10,
                    0, 32, 0, 32, 0, 32, 0, 32, 0, 34, 0, 116, 0, 121, 0, 112, 0, 101, 0, 78, 0, 97, 0, 109, 0, 101, 0,
                    34, 0, 58, 0, 32, 0, 34, 0, 112, 0, 117, 0, 108, 0, 115, 0, 101, 0, 34, 0, 44, 0, 10, 0, 32, 0, 32,
                    0, 32, 0, 32, 0, 34, 0, 116, 0, 121, 0, 112, 0, 101, 0, 77, 0, 97, 0, 116, 0, 99, 0, 104, 0, 69, 0,
                    120, 0, 112, 0, 114, 0, 101, 0, 115, 0, 115, 0, 105, 0, 111, 0, 110, 0, 34, 0, 58, 0, 32, 0, 34, 0,
                    36, 0, 46, 0, 46, 0, 91, 0, 63, 0, 40, 0, 64, 0, 112, 0, 117, 0, 108, 0, 115, 0, 101, 0, 41, 0, 93,
                    0, 34, 0, 44, 0, 10, 0, 32, 0, 32, 0, 32, 0, 32, 0, 34, 0, 100, 0, 101, 0, 118, 0, 105, 0, 99, 0,
                    101, 0, 73, 0, 100, 0, 69, 0, 120, 0, 112, 0, 114, 0, 101, 0, 115, 0, 115, 0, 105, 0, 111, 0, 110,
                    0, 34, 0, 58, 0, 32, 0, 34, 0, 36, 0, 46, 0, 105, 0, 100, 0, 34, 0, 44, 0, 10, 0, 32, 0, 32, 0, 32,
                    0, 32, 0, 34, 0, 116, 0, 105, 0, 109, 0, 101, 0, 115, 0, 116, 0, 97, 0, 109, 0, 112, 0, 69, 0, 120,
                    0, 112, 0, 114, 0, 101, 0, 115, 0, 115, 0, 105, 0, 111, 0, 110, 0, 34, 0, 58, 0, 32, 0, 34, 0, 36,
                    0, 46, 0, 97, 0, 116, 0, 34, 0, 44, 0, 10, 0, 32, 0, 32, 0, 32, 0, 32, 0, 34, 0, 118, 0, 97, 0, 108,
                    0, 117, 0, 101, 0, 115, 0, 34, 0, 58, 0, 32, 0, 91, 0, 123, 0, 34, 0, 118, 0, 97, 0, 108, 0, 117, 0,
                    101, 0, 78, 0, 97, 0, 109, 0, 101, 0, 34, 0, 58, 0, 32, 0, 34, 0, 112, 0, 117, 0, 108, 0, 115, 0,
                    101, 0, 34, 0, 44, 0, 32, 0, 34, 0, 118, 0, 97, 0, 108, 0, 117, 0, 101, 0, 69, 0, 120, 0, 112, 0,
                    114, 0, 101, 0, 115, 0, 115, 0, 105, 0, 111, 0, 110, 0, 34, 0, 58, 0, 32, 0, 34, 0, 36, 0, 46, 0,
                    112, 0, 117, 0, 108, 0, 115, 0, 101, 0, 34, 0, 44, 0, 32, 0, 34, 0, 114, 0, 101, 0, 113, 0, 117, 0,
                    105, 0, 114, 0, 101, 0, 100, 0, 34, 0, 58, 0, 32, 0, 116, 0, 114, 0, 117, 0, 101, 0, 125, 0, 93, 0,
                    10, 0, 32, 0, 32, 0, 125, 0, 125, 0, 10, 0, 93, 0, 125, 0,
                ]
            ], 78, "the file is not UTF-8 here", at: "./m/device.json:1:1", "save the file as UTF-8"),
        Mistake(
            "mapping not readable", ["check", "./m", "--strict"],
            files: ["m/device.json": MappingText.device, "m/fhir.json": MappingText.fhir], locked: ["m/device.json"],
            needs: [.ordinaryUser], 78, "./m/device.json cannot be read", at: "--mapping",
            "let this user read it (chmod, chown)"),
        Mistake(
            "mapping of a later dialect", ["check", "./m", "--strict"],
            files: [
                "m/device.json": "{\"dialect\": 2," + MappingText.device.dropFirst(), "m/fhir.json": MappingText.fhir,
            ], 78, "the mapping is written for dialect 2, and this kymo reads dialect 1", at: "./m/device.json:1:13",
            "run a later kymo ('kymo capabilities' names the dialect that one reads)"),
        Mistake(
            "example without input", ["test", "./m/"],
            files: [
                "m/device.json": MappingText.device, "m/fhir.json": MappingText.fhir, "m/examples/a.out.json": "{}",
            ], 78, "is missing", at: "./m/examples/a.in.json", "an expected output needs an input"),
        Mistake(
            "example without output", ["test", "./m/"],
            files: [
                "m/device.json": MappingText.device, "m/fhir.json": MappingText.fhir,
                "m/examples/a.in.json": "{\"id\":\"p\",\"at\":\"2026-03-01T08:00:00Z\",\"pulse\":61}",
            ], 65, "no expected output", at: "./m/: a", "make one with kymo test --update"),
        Mistake(
            "example of another name", ["test", "./m/"],
            files: ["m/device.json": MappingText.device, "m/fhir.json": MappingText.fhir, "m/examples/a.json": "{}"],
            78, "examples are named", at: "./m/examples/a.json", "<name>.in.json"),
        Mistake(
            "expected output no JSON", ["test", "./m/"],
            files: [
                "m/device.json": MappingText.device, "m/fhir.json": MappingText.fhir,
                "m/examples/a.in.json": "{\"id\":\"p\",\"at\":\"2026-03-01T08:00:00Z\",\"pulse\":61}",
                "m/examples/a.out.json": "{",
            ], 65, "the expected output is no JSON", at: "./m/: a", "expected a string at byte 1"),
        Mistake(
            "hexadecimal with a letter", ["test", "./m/"],
            files: ["m/device.json": MappingText.device, "m/fhir.json": MappingText.fhir, "m/examples/a.in.hex": "0g"],
            65, "not hexadecimal", at: "a.in.hex:1", "write two digits a byte"),
        Mistake(
            "export over a folder", ["mappings", "--export", "wristband", "./m"],
            files: ["m/device.json": MappingText.device], 73, "./m exists already", at: "./m", "name a new folder"),
        Mistake(
            "export of a misspelt mapping", ["mappings", "--export", "wristbnad", "./m"], 78,
            "no mapping is called 'wristbnad'", at: "'wristbnad'",
            "did you mean 'wristband'? (a folder of your own needs a /"),
    ]
}
