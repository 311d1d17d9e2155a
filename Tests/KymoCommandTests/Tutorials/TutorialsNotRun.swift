/// The steps of tutorials that no test can run as they stand, and what stands for programs in those that it does.
enum TutorialsNotRun {
    struct Entry: Sendable {
        /// How the step begins.
        var begins: String
        var reason: String
        /// The file of the test that shows the same.
        var coveredBy: String
    }

    static let all = [
        Entry(
            begins: "sudo apt install ./kymo_*.deb",
            reason: "installs the package: make package-test does, in a new Debian",
            coveredBy: "packaging/test.sh"),
        Entry(
            begins: "sudo apt install ./kymo_0.2.0_amd64.deb", reason: "needs a later version",
            coveredBy: "Tests/KymoCommandTests/Store/Migration"),
        Entry(
            begins: "sudo apt install prometheus",
            reason: "installs a service: rules and scrape have a test of their own",
            coveredBy: "Tests/Validation/monitoring.py"),
        Entry(
            begins: "az resource show", reason: "needs an account of Azure: exports are read from files",
            coveredBy: "Tests/KymoCommandTests/MappingFileTests.swift"),
        Entry(
            begins: "(umask 077; cat > hub.properties", reason: "needs an event hub: topics are read of a mock cluster",
            coveredBy: "Tests/EndToEndTests/Kafka/KafkaSourceTests.swift"),
        Entry(
            begins: "kymo compare medtech-server.yaml", reason: "needs the FHIR server of another service",
            coveredBy: "Tests/EndToEndTests/CompareTests.swift"),
        Entry(
            begins: "python3 -m venv ~/kymo-bridge", reason: "needs the network and Bluetooth hardware",
            coveredBy: "Tests/Bridges/test_bleak_bridge.py"),
        Entry(
            begins: "~/kymo-bridge/bin/python bridges/bleak_bridge.py", reason: "needs Bluetooth hardware",
            coveredBy: "Tests/Bridges/test_end_to_end.py"),
        Entry(
            begins: "kymo check --connect --config medplum.yaml", reason: "needs an account of Medplum",
            coveredBy: "Tests/EndToEndTests/Access/TokenTests.swift"),
    ]

    /// Programs that are others in the test, so that steps with them run all the same.
    static let standIns = [
        Entry(
            begins: "sudo", reason: "runs what it is given as the user of the test", coveredBy: "packaging/test_unit.py"
        ),
        Entry(
            begins: "systemctl", reason: "runs the commands of the package's unit, without its sandbox",
            coveredBy: "packaging/test_unit.py"),
        Entry(
            begins: "python3", reason: "has the library hl7, which readers install",
            coveredBy: "Tests/EndToEndTests/HL7SenderTests.swift"),
        Entry(
            begins: "docker", reason: "starts the strict FHIR server in place of HAPI's image",
            coveredBy: "Tests/EndToEndTests/ServerSinkTests.swift"),
    ]
}
