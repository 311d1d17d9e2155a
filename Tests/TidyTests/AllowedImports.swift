/// Which folders of a module may use types of which others: each row those above it only, so that there are no circles.
///
/// A row is a folder, a colon, and what it uses; it may go on in lines that begin with blanks.
struct AllowedImports {
    /// A use that is there, but is to go: it closes a circle.
    struct Exception: Equatable {
        var from: String
        var to: String
        /// How it can go.
        var reason: String
    }

    /// The module's folder below `Sources`.
    var module: String
    /// In the order of the table.
    private(set) var rows: [(folder: String, uses: [String])] = []
    var exceptions: [Exception] = []

    init(module: String, table: String, exceptions: [Exception] = []) {
        (self.module, self.exceptions) = (module, exceptions)
        for line in table.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            let uses = parts[parts.count - 1].split(separator: " ").map(String.init)
            if line.hasPrefix(" ") {
                rows[rows.count - 1].uses += uses
            } else {
                rows.append((String(parts[0]), parts.count > 1 ? uses : []))
            }
        }
    }

    /// The hot path, and behind it what runs when templates are loaded: no folder outside of `Templates` uses one
    /// within, so that those can be a module of their own.
    static let core = AllowedImports(
        module: "KymographCore",
        table: """
            Memory:
            Model: Memory
            Reading: Memory Model
            Decode: Memory Model
            Decode/Framing: Memory Model
            Decode/Zones: Model Decode
            Text: Memory Model Decode
            Memory/Slots: Memory Model
            Ring: Memory Model Memory/Slots
            GATT: Memory Model Decode Decode/Framing
            Map/Pattern: Memory Model
            Map/JSONPath: Memory Model Decode Map/Pattern
            Map/JMESPath: Memory Model Decode Map/JSONPath
            Map/Compatibility: Memory Model Decode Text Map/JMESPath
            Map/Units: Model
            Map/Template: Model Decode Map/JSONPath Map/JMESPath Map/Units
            Map/Program: Memory Model Decode Decode/Zones Map/JSONPath Map/JMESPath Map/Template
            FastPath: Memory Model Decode GATT Map/JSONPath Map/Program
            FHIR/Template: Memory Model Text
            Map/Values: Memory Model Decode Map/Units Map/Template
            Map: Memory Model Reading Decode GATT Map/JSONPath Map/JMESPath Map/Compatibility Map/Template Map/Program
                FastPath FHIR/Template Map/Values
            Lane: Memory Model Decode Ring GATT Map/Program Map
            Window/Blocks: Memory Model Reading
            Window/Journal: Memory Model Reading Window/Blocks
            Window: Memory Model Reading Ring Window/Blocks Window/Journal
            FHIR/Identity: Memory Model Text
            FHIR/Entry: Memory FHIR/Identity
            FHIR/Assemble: Memory Text FHIR/Identity FHIR/Entry
            FHIR/Series: Memory Model Reading FHIR/Template
            FHIR/Program: Memory Model Reading Text FHIR/Template FHIR/Series
            FHIR/Glucose: Memory Model Reading FHIR/Template FHIR/Program
            FHIR/IomtFHIR: Memory Reading Text FHIR/Program
            FHIR/Observation: Memory Model Reading Text FHIR/Template FHIR/Identity FHIR/Entry FHIR/Series FHIR/Program
                FHIR/Glucose FHIR/IomtFHIR
            FHIR/EntryWriter: Memory Model Reading Text FHIR/Template FHIR/Identity FHIR/Entry FHIR/Assemble
                FHIR/Program FHIR/Observation
            Window/Routing: Memory Model Reading FHIR/Template Window FHIR/EntryWriter
            Shard: Memory Model Reading Ring Map Window/Journal Window FHIR/Program FHIR/EntryWriter Window/Routing
            Templates/Source: Memory Model Decode
            Templates/Expressions: Memory Decode Text Map/Pattern Map/JSONPath Map/JMESPath Map/Template
                Templates/Source
            Templates/Units: Model Map/Units Templates/Source Templates/Expressions
            Templates/Check: Model FHIR/Template Templates/Source Templates/Units
            Templates/FHIR: Memory Model Decode Text FHIR/Template Templates/Source Templates/Check
            Templates/Programs: Memory Model Text FHIR/Template Map FHIR/Identity FHIR/Series FHIR/Program FHIR/Glucose
                FHIR/Observation Templates/Source Templates/Check
            Templates/Device: Memory Model Decode GATT Map/JMESPath Map/Units Map/Template Templates/Source
                Templates/Expressions
            Templates/Mappings: Model GATT Map/Units Map/Template FHIR/Template Map Templates/Source Templates/Check
                Templates/FHIR Templates/Device
            Templates/Explain: Memory Model Reading Decode GATT Map/JSONPath Map/JMESPath Map/Compatibility
                Map/Template Map/Program Map Templates/Expressions Templates/Device
            """)

    /// The edges. The exceptions were there when the table was made; none may come.
    static let edges = AllowedImports(
        module: "Kymograph",
        table: """
            System:
            Crypto:
            Captures:
            Ingest: System Captures
            Sinks: System Ingest
            Sinks/Server: Crypto Sinks
            Sinks/Server/HTTP: System Sinks/Server
            Sinks/Server/Authorization: Crypto Ingest Sinks Sinks/Server Sinks/Server/HTTP
            Sinks/Server/Channel: Ingest Sinks/Server
            Sinks/Server/Answers: Sinks/Server/Channel
            Sinks/Server/Merge:
            Store: System Ingest Sinks Sinks/Server Sinks/Server/HTTP
            Sinks/Server/Rows: Sinks/Server/Channel Store
            Sinks/Server/Identity: Sinks/Server/Merge Sinks/Server/Rows
            Sinks/Server/Delivery: System Ingest Sinks/Server Sinks/Server/Channel Sinks/Server/Answers
                Sinks/Server/Merge Store Sinks/Server/Rows Sinks/Server/Identity
            Configuration: Ingest Sinks Sinks/Server Sinks/Server/HTTP Sinks/Server/Authorization Store
                Sinks/Server/Rows Sinks/Server/Identity Sinks/Server/Delivery
            Archive: System Sinks Store
            Preview:
            Ledger: System Ingest Store Sinks/Server/Delivery Configuration Archive Preview
            Pipeline: System Ingest Sinks Store Configuration Archive Ledger
            .:
            """,
        exceptions: [
            Exception(
                from: "Configuration", to: "Pipeline",
                reason: "WaitStrategy needs the clock of Ingest, which belongs to System"),
            Exception(
                from: "Ingest", to: "Ledger",
                reason: "requests of the control socket and returning letters are told by types of the ledger"),
            Exception(from: "Ingest", to: "Sinks", reason: "FileSystem belongs to System"),
            Exception(from: "Ledger", to: "Pipeline", reason: "LetterReplay tells how the payloads of a source came"),
            Exception(
                from: "Sinks", to: "Pipeline",
                reason: "Doorbell and PipelineControl belong to System once the descriptor is there"),
            Exception(
                from: "Sinks", to: "Store",
                reason: "CrashPoint belongs to System, and StoredOutbox is what a delivery is given"),
            Exception(
                from: "Sinks/Server", to: "Sinks/Server/Authorization",
                reason: "ServerAccess puts the parts of a server together, and belongs above them"),
            Exception(
                from: "Sinks/Server", to: "Sinks/Server/HTTP",
                reason: "ServerAccess puts the parts of a server together, and belongs above them"),
            Exception(
                from: "Sinks/Server/Channel", to: "Pipeline",
                reason: "Doorbell belongs to System once the descriptor is there"),
            Exception(
                from: "Sinks/Server/Channel", to: "Sinks/Server/Delivery",
                reason: "DeliverySettings belong to the channel"),
            Exception(
                from: "Sinks/Server/Rows", to: "Sinks/Server/Identity",
                reason: "a row keeps what its references were resolved to"),
            Exception(
                from: "Store", to: "Configuration",
                reason: "DeliveryWays, ServerWay and StoreStage put a pipeline together"),
            Exception(
                from: "Store", to: "Ledger",
                reason: "letters and totals of the ledger are what the store writes"),
            Exception(
                from: "Store", to: "Pipeline",
                reason: "DeliveryWays, ServerWay and StoreStage put a pipeline together"),
            Exception(
                from: "Store", to: "Sinks/Server/Delivery",
                reason: "DeliveryWays, ServerWay and StoreStage put a pipeline together"),
            Exception(from: "Store", to: "Sinks/Server/Rows", reason: "the letter of an entry is cut out of a row"),
        ])
}
