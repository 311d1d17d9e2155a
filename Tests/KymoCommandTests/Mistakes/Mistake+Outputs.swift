import CommandSupport

/// Where output goes.
extension Mistake {
    private static let reading = Readings.heartRate(second: 0)
    private static let observations = (0..<300).map {
        #"{"resourceType":"Observation","id":"\#($0)","value":\#($0 * 7919)}"#
    }.joined(separator: "\n")
    static let outputs: [Mistake] = [
        Mistake(
            "Parquet in a missing folder",
            ["export", "--format", "parquet", "--out", "./nowhere/t", "--data", "store"],
            needs: [.store], 73, "cannot create the directory ./nowhere/t: No such file or directory",
            at: "./nowhere/t", "create the directory above it first"),
        Mistake(
            "Parquet where a file is", ["export", "--format", "parquet", "--out", "./f", "--data", "store"],
            files: ["f": "x"], needs: [.store], 73, "cannot write to the directory ./f: Not a directory", at: "./f",
            "it, or what is above it, is a file: choose another name"),
        Mistake(
            "output where a file is", ["run", "--stdin", "--out", "./f"], files: ["f": "x"], input: reading, 73,
            "cannot open the directory ./f: Not a directory", at: "./f",
            "it, or what is above it, is a file: choose another name"),
        Mistake(
            "output in a folder of another user", ["run", "--stdin", "--out", "./d/out"], files: ["d/a": "x"],
            locked: ["d"], input: reading, needs: [.ordinaryUser], 77,
            "cannot create the directory ./d/out: Permission denied", at: "./d/out",
            "choose another place or change its permissions"),
        Mistake(
            "output that is not writable", ["run", "--stdin", "--out", "./d"], files: ["d/a": "x"], locked: ["d"],
            input: reading, needs: [.ordinaryUser], 77, "cannot open the directory ./d: Permission denied", at: "./d",
            "choose another place or change its permissions"),
        Mistake(
            "dead letters in a missing folder", ["run", "--stdin", "--dead-letter", "./nowhere/dead.ndjson"],
            input: reading, 73, "cannot open the dead-letter file ./nowhere/dead.ndjson: No such file",
            at: "./nowhere/dead.ndjson", "create the directory above it first"),
        Mistake(
            "dead letters to a folder", ["run", "--stdin", "--dead-letter", "./d"], files: ["d/a": "x"], input: reading,
            73, "cannot open the dead-letter file ./d: Is a directory", at: "./d", "it is a folder; name a file in it"),
        Mistake(
            "full device", ["map", "-"], input: reading, needs: [.fullOutput], 74,
            "standard output cannot be written: no space is left", at: "standard output",
            "free some, or write elsewhere"),
        Mistake(
            "standard output closed", ["map", "-"], input: reading, needs: [.closedOutput], 74,
            "standard output cannot be written: it is closed", at: "standard output", "redirect it to a file or a pipe"),
        Mistake(
            "standard output of run closed", ["run", "--stdin"], input: reading, needs: [.closedOutput], 74,
            "cannot write to standard output: it was closed before kymo started", at: "standard output",
            "redirect it to a file or"),
        Mistake(
            "dictionary in a missing folder", ["dictionary", "--out", "./nowhere"], input: observations, 73,
            "cannot be written", at: "./nowhere/kymograph-", "choose a folder that is there"),
        Mistake(
            "dictionary that is none", ["run", "--stdin", "--config", "kymo.yaml"],
            files: ["kymo.yaml": "output:\n  to: ./out\n  compression: zstd\n  dictionary: ./none.zdict\n"],
            input: reading, 73, "the dictionary ./none.zdict cannot be read", at: "./none.zdict",
            "name one that 'kymo dictionary' has made, and that this"),
        Mistake(
            "token file missing", ["run", "--stdin", "--config", "kymo.yaml"],
            files: [
                "kymo.yaml":
                    "server:\n  url: http://127.0.0.1:9/r4\n  identity: create\n  authorization: bearer\n  tokenFile: ./token\n"
            ], input: reading, 78, "server http://127.0.0.1:9/r4: tokenFile: ./token cannot be read", at: "./token",
            "No such file or directory"),
        Mistake(
            "token file open to others", ["run", "--stdin", "--config", "kymo.yaml"],
            files: [
                "token": "abc",
                "kymo.yaml":
                    "server:\n  url: http://127.0.0.1:9/r4\n  identity: create\n  authorization: bearer\n  tokenFile: ./token\n",
            ], shared: ["token"], input: reading, 78, "server http://127.0.0.1:9/r4: tokenFile: ./token can be read or",
            at: "./token",
            "run 'chmod 600' on it"),
    ]
}
