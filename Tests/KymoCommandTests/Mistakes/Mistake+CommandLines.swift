/// The words of the command line.
extension Mistake {
    static let commandLines: [Mistake] = [
        Mistake(
            "misspelt command", ["rnu"], 64, "there is no command 'kymo rnu'", at: "'kymo rnu'",
            "did you mean 'kymo run'?"),
        Mistake(
            "command of another program", ["validate"], 64, "there is no command 'kymo validate'",
            at: "'kymo validate'", "did you mean 'kymo check'?"),
        Mistake(
            "command that is none", ["frobnicate"], 64, "there is no command 'kymo frobnicate'",
            at: "'kymo frobnicate'", "the commands are run, import, demo, check, config, test, map,"),
        Mistake(
            "misspelt subcommand", ["dead", "lst"], 64, "there is no command 'kymo dead lst'", at: "'kymo dead lst'",
            "did you mean 'kymo dead list'?"),
        Mistake(
            "subcommand without its command", ["show", "17"], 64, "there is no command 'kymo show'", at: "'kymo show'",
            "did you mean 'kymo dead show'?"),
        Mistake(
            "no subcommand of dead given an option", ["dead", "--all"], 64, "Unknown option '--all'", at: "'--all'",
            "See 'kymo dead reasons --help' for more information."),
        Mistake(
            "unknown option", ["run", "--frobnicate"], 64, "Unknown option '--frobnicate'", at: "'--frobnicate'",
            "See 'kymo run --help' for more information."),
        Mistake(
            "misspelt option", ["run", "--maping", "wristband"], 64,
            "Unknown option '--maping'. Did you mean '--mapping'?", at: "'--maping'",
            "See 'kymo run --help' for more information."),
        Mistake(
            "option of another program", ["run", "--output", "./x"], 64,
            "Unknown option '--output'. Did you mean '--out'?", at: "'--output'",
            "See 'kymo run --help' for more information."),
        Mistake(
            "single dash", ["run", "-stdin"], 64, "Unknown option '-stdin'. Did you mean '--stdin'?", at: "'-stdin'",
            "See 'kymo run --help' for more information."),
        Mistake(
            "option without value", ["run", "--udp"], 64, "Missing value for '--udp <host:port>'",
            at: "'--udp <host:port>'", "write it behind the option"),
        Mistake(
            "file in place of standard input", ["run", "readings.ndjson"], 64, "Unexpected argument 'readings.ndjson'",
            at: "'readings.ndjson'", "a file of readings is read by 'kymo run --stdin < FILE', a"),
        Mistake(
            "two files", ["replay", "a.json", "b.json", "--stdout"], 64, "Unexpected argument 'b.json'",
            at: "'b.json'",
            "one file is read at a time: put quotes around a name with"),
        Mistake(
            "argument of a command without", ["status", "/var/lib/kymo"], 64, "Unexpected argument '/var/lib/kymo'",
            at: "'/var/lib/kymo'", "remove it, or name the option that it belongs to"),
        Mistake(
            "missing argument", ["replay"], 64, "Missing expected argument '<file>'", at: "'<file>'",
            "<file>  NDJSON, one reading a line; or a recording of"),
        Mistake(
            "missing expression", ["eval"], 64, "Missing expected argument '<expression>'", at: "'<expression>'",
            "<expression>  The expression."),
        Mistake(
            "nothing to remove", ["sources", "remove"], 64, "name sources, or devices with --device", at: "--device",
            "See 'kymo sources remove --help' for more information."),
        Mistake(
            "no destination", ["simulate"], 64, "name one destination", at: "--udp",
            "--udp, --tcp, --unix, --unixgram or --stdout"),
        Mistake(
            "letters and all", ["dead", "discard", "17", "--all"], 64, "name numbers of letters, or --all", at: "--all",
            "See 'kymo dead discard --help' for more information."),
        Mistake(
            "letter that is no number", ["dead", "show", "seventeen"], 64,
            "The value 'seventeen' is invalid for '<number>'", at: "'seventeen'",
            "<number>  Number of the letter, as the list shows it."),
        Mistake(
            "no devices", ["simulate", "--stdout", "--devices", "0"], 64, "--devices must be at least 1",
            at: "--devices", "See 'kymo simulate --help' for more information."),
        Mistake(
            "devices in words", ["simulate", "--stdout", "--devices", "ten"], 64,
            "The value 'ten' is invalid for '--devices <devices>'", at: "'ten'",
            "--devices <devices>  Number of devices."),
        Mistake(
            "probability in percent", ["simulate", "--stdout", "--late", "5%"], 64,
            "The value '5%' is invalid for '--late <p>'", at: "'5%'",
            "--late <p>  Probability that a reading arrives late."),
        Mistake(
            "probability above one", ["simulate", "--stdout", "--duplicates", "5"], 64,
            "--duplicates must be between 0 and 1", at: "--duplicates",
            "See 'kymo simulate --help' for more information."),
        Mistake(
            "duration without unit", ["simulate", "--stdout", "--duration", "10"], 64,
            "The value '10' is invalid for '--duration <length>'", at: "'10'",
            "--duration <length>  Length of the played time: 30s, 5m, 1h."),
        Mistake(
            "start in words", ["simulate", "--stdout", "--start", "yesterday"], 64, "--start yesterday", at: "--start",
            "write a time such as 2026-03-01T08:00:00Z"),
        Mistake(
            "rate of zero", ["replay", "a.ndjson", "--stdout", "--rate", "0"], 64, "--rate must be above 0",
            at: "--rate", "See 'kymo replay --help' for more information."),
        Mistake(
            "speed and rate", ["replay", "a.ndjson", "--stdout", "--rate", "1", "--speed", "2"], 64,
            "name --speed or --rate, not both", at: "--speed", "See 'kymo replay --help' for more information."),
        Mistake(
            "negative speed", ["replay", "a.ndjson", "--stdout", "--speed=-1"], 64,
            "The value '-1' is invalid for '--speed <factor>'", at: "'-1'",
            "--speed <factor>  Times faster than recorded, or max;"),
        Mistake(
            "offset without minutes", ["replay", "a.ndjson", "--stdout", "--utc-offset", "6"], 64,
            "The value '6' is invalid for '--utc-offset <±hh:mm>'", at: "'6'",
            "--utc-offset <±hh:mm>  Offset of device clocks from UTC,"),
        Mistake(
            "destination without port", ["simulate", "--udp", "127.0.0.1"], 64, "--udp 127.0.0.1", at: "--udp",
            "write HOST:PORT, such as 127.0.0.1:5757 or [::1]:5757"),
        Mistake(
            "destination with a port too large", ["simulate", "--udp", "127.0.0.1:99999"], 64,
            "its port is no number from 1 to 65535", at: "--udp 127.0.0.1:99999", "write HOST:PORT, such as"),
        Mistake(
            "IPv6 destination without brackets", ["simulate", "--tcp", "::1:5757"], 64,
            "an IPv6 address stands in brackets", at: "--tcp ::1:5757", "127.0.0.1:5757 or [::1]:5757"),
        Mistake(
            "export without folder", ["mappings", "--export", "wristband"], 64, "--export needs a name and a folder",
            at: "--export", "See 'kymo mappings --help' for more information."),
        Mistake(
            "update of the catalogue", ["test", "--update", "wristband"], 64,
            "--update needs folders (names with a /), because the catalogue is", at: "--update",
            "See 'kymo test --help' for more information."),
        Mistake(
            "time without date", ["query", "--from", "08:00"], 64, "The value '08:00' is invalid for '--from <time>'",
            at: "'08:00'", "--from <time>  Only from this time on: 2026-03-01T08:00:00Z."),
        Mistake(
            "local time", ["query", "--from", "2026-03-01T08:00:00"], 64,
            "The value '2026-03-01T08:00:00' is invalid for '--from <time>'", at: "'2026-03-01T08:00:00'",
            "--from <time>  Only from this time on: 2026-03-01T08:00:00Z."),
        Mistake(
            "limit of zero", ["query", "--limit", "0"], 64, "--limit must be above 0", at: "--limit",
            "See 'kymo query --help' for more information."),
        Mistake(
            "invented cursor", ["query", "--cursor", "next"], 64, "--cursor next", at: "--cursor",
            "it is none that 'kymo query' has named"),
        Mistake(
            "format of another command", ["query", "--format", "csv"], 64,
            "The value 'csv' is invalid for '--format <ndjson|table>'. Please", at: "'csv'",
            "--format <ndjson|table>  NDJSON, or a table of windows or"),
        Mistake(
            "Parquet to standard output", ["export", "--format", "parquet"], 64,
            "--format parquet writes files, and nothing to standard output", at: "--format parquet",
            "name a folder with --out DIR"),
        Mistake(
            "bulk export to standard output", ["export", "--format", "bulk"], 64,
            "--format bulk writes files, and nothing to standard output", at: "--format bulk",
            "name a folder with --out DIR"),
        Mistake(
            "folder for CSV", ["export", "--format", "csv", "--out", "./d"], 64,
            "--out is the folder of --format parquet and bulk", at: "csv goes to standard output", "redirect that"),
        Mistake(
            "decimals of CSV", ["export", "--format", "csv", "--decimals", "3"], 64, "--decimals needs",
            at: "--decimals", "--format parquet"),
        Mistake(
            "decimals beyond 38 digits", ["export", "--format", "parquet", "--out", "./d", "--decimals", "38"], 64,
            "--decimals must be", at: "--decimals", "0…37"),
        Mistake(
            "address of Parquet", ["export", "--format", "parquet", "--out", "./d", "--base-url", "https://h"], 64,
            "--base-url needs", at: "--base-url", "--format bulk"),
        Mistake(
            "one Observation of Parquet", ["export", "--format", "parquet", "--out", "./d", "--id", "x"], 64,
            "--format parquet is about whole windows", at: "--id", "leave one of them out"),
        Mistake(
            "dictionary too large", ["dictionary", "--size", "5000"], 64, "--size is from 4 to 1024 KiB", at: "--size",
            "See 'kymo dictionary --help' for more information."),
        Mistake(
            "latency to standard output", ["simulate", "--latency", "--stdout"], 64, "--latency sends to a pipeline",
            at: "--latency", "name --udp, --unix or --unixgram"),
        Mistake(
            "window without latency", ["simulate", "--stdout", "--window", "1m"], 64, "--window belongs to --latency",
            at: "--window", "See 'kymo simulate --help' for more information."),
    ]
}
