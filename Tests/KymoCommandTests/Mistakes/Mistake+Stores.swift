import CommandSupport

/// Data directories, and who may use them.
extension Mistake {
    private static let reading = Readings.heartRate(second: 0)
    static let stores: [Mistake] = [
        Mistake(
            "no store", ["status", "--data", "./nowhere"], 66, "there is no store in ./nowhere", at: "./nowhere",
            "name the data directory of kymo run with --data DIR"),
        Mistake(
            "store is a file", ["status", "--data", "./f"], files: ["f": "x"], 66,
            "./f is a file, and no data directory", at: "./f", "name that of kymo run with --data DIR"),
        Mistake(
            "folder without store", ["ledger", "--data", "./d"], files: ["d/a": "x"], 66, "there is no store in ./d",
            at: "./d", "name the data directory of kymo run with --data DIR"),
        Mistake(
            "store of another user", ["status", "--data", "./store"], locked: ["store"],
            needs: [.ordinaryUser, .store], 77, "the store in ./store cannot be read: permission denied", at: "./store",
            "run this command as the user of kymo run (sudo -u)"),
        Mistake(
            "run in a store of another user", ["run", "--stdin", "--data", "./store"], locked: ["store"],
            input: reading, needs: [.ordinaryUser, .store], 77,
            "cannot open the data directory ./store: Permission denied", at: "./store",
            "choose another with --data DIR, or keep nothing with"),
        Mistake(
            "store in a folder of another user", ["run", "--stdin", "--data", "./d/store"], files: ["d/a": "x"],
            locked: ["d"], input: reading, needs: [.ordinaryUser], 77,
            "cannot create the data directory ./d/store: Permission denied", at: "./d/store",
            "choose another with --data DIR, or keep nothing with"),
        Mistake(
            "store where a file is", ["run", "--stdin", "--data", "./f"], files: ["f": "x"], input: reading, 73,
            "cannot open the data directory ./f: Not a directory", at: "./f",
            "choose another with --data DIR, or keep nothing with"),
        Mistake(
            "letter that is not there", ["dead", "show", "17", "--data", "./store"], needs: [.store], 65,
            "there is no dead letter", at: "17", "see 'kymo dead list --all'"),
        Mistake(
            "damaged store", ["status", "--data", "./store"], files: ["store/kymo.sqlite": "this is no store"], 74,
            "cannot read the store in ./store: file is not a database", at: "./store", "the next start repairs it"),
        Mistake(
            "store in use", ["run", "--stdin", "--data", "./store"], input: reading, needs: [.instance], 73,
            "another kymo uses the data directory ./store", at: "./store",
            "give each its own with --data, or --ephemeral"),
        Mistake(
            "no instance to forget", ["forget-lookups", "--data", "./store"], needs: [.store], 66,
            "no instance runs in ./store", at: "./store", "nothing is remembered when none does"),
        Mistake(
            "reset while an instance runs", ["reset", "--data", "./store"], needs: [.instance], 73,
            "an instance uses ./store", at: "./store", "stop it first"),
        Mistake(
            "deletion without an answer", ["reset", "--delete", "--data", "./store"], needs: [.store], 65,
            "nothing was changed in ./store", at: "./store", "or give --yes"),
        Mistake(
            "no console in the instance", ["console", "login", "--data", "./store"], needs: [.instance], 1,
            "this instance serves no console", at: "console", "set console.enabled to true"),
        Mistake(
            "no instance to flush", ["flush", "--data", "./store"], needs: [.store], 66, "no instance runs in ./store",
            at: "./store", "all windows are closed when none does"),
        Mistake(
            "type to pause that is none", ["pause", "hartRate", "--data", "./store"], needs: [.store], 65,
            "there is no type or source 'hartRate'", at: "'hartRate'", "did you mean 'heartRate'?"),
        Mistake(
            "types that no mapping has", ["query", "--data", "./store", "--mapping", "glucose-meter"], needs: [.store],
            78,
            "the mappings have no template for heartRate:", at: "--mapping",
            "name those of 'kymo run' with --mapping or --config, or ask"),
    ]
}
