/// Which folders of a module may use types of which others: each row those above it only, so that there are no circles.
///
/// A row is a folder, a colon, and what it uses; it may go on in lines that begin with blanks.
struct AllowedImports {
    static let all = [core, templates, edges]

    /// The module's folder below `Sources`.
    var module: String
    /// In the order of the table.
    private(set) var rows: [(folder: String, uses: [String])] = []

    init(module: String, table: String) {
        self.module = module
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

    /// The hot path.
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
            HL7: Memory Model Decode
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
            Map: Memory Model Reading Decode GATT HL7 Map/JSONPath Map/JMESPath Map/Compatibility Map/Template
                Map/Program FastPath FHIR/Template Map/Values
            Patients: Memory Model Reading
            Rules: Memory Model Reading Decode Map/JSONPath Map/JMESPath Map
            Lane: Memory Model Reading Decode Ring GATT Map/Program Map Patients Rules
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
            Parquet: Memory Model Reading FHIR/Observation
            FHIR/EntryWriter: Memory Model Reading Text FHIR/Template FHIR/Identity FHIR/Entry FHIR/Assemble
                FHIR/Program FHIR/Observation
            Window/Routing: Memory Model Reading Rules FHIR/Template Window FHIR/EntryWriter
            Shard: Memory Model Reading Ring Map Window/Journal Window FHIR/Template FHIR/Entry FHIR/Program FHIR/EntryWriter
                Window/Routing
            """)

    /// What runs when templates are loaded, checked or explained. It uses any folder of the core.
    static let templates = AllowedImports(
        module: "KymographTemplates",
        table: """
            Source:
            Expressions: Source
            Units: Source Expressions
            Check: Source Units
            FHIR: Source Check
            Programs: Source Check
            Device: Source Expressions
            Mappings: Source Check FHIR Device
            Explain: Expressions Device
            """)

    /// What is around the core: sources, sinks, the store, and what puts them together.
    static let edges = AllowedImports(
        module: "Kymograph",
        table: """
            System:
            Log: System
            Crypto:
            Audit: System Log
            Crypto/Seal: System
            Crypto/TLS: System Crypto
            Crypto/Datagrams: System
            Captures:
            Configuration/Values:
            MQTT: System Configuration/Values
            Kafka: System
            Ingest/Peers: System Crypto Configuration/Values
            Ingest: System Crypto/Datagrams Configuration/Values Ingest/Peers
            HTTP: System Crypto/TLS Ingest
            Ingest/Compression:
            Ingest/Framing: System Ingest/Peers Captures Configuration/Values MQTT Ingest HTTP Ingest/Compression
                Crypto
            Ingest/AppleHealth: Configuration/Values Ingest Ingest/Framing Ingest/Compression
            Ingest/Kafka: System Kafka Configuration/Values Ingest Ingest/Framing
            Ingest/Sources: System Crypto/TLS Crypto/Datagrams Ingest/Peers Configuration/Values MQTT Kafka Ingest Ingest/Framing
                Ingest/AppleHealth Ingest/Kafka
            Ingest/Lane: System Crypto/TLS Crypto/Datagrams Ingest/Peers Ingest Ingest/Framing Ingest/Kafka Ingest/Sources
            Sinks/Outbox: System
            Sinks: System Crypto/Seal
            Sinks/Files: System Crypto/Seal Sinks
            Export: System Sinks Sinks/Files
            Sinks/DeadLetters: System Crypto/Seal Sinks
            Sinks/Server: System
            Sinks/Server/HTTP: System Crypto Sinks/Server
            Sinks/Server/Authorization: System Crypto Sinks/Server Sinks/Server/HTTP
            Sinks/Server/Access: System Crypto Sinks/Server Sinks/Server/HTTP Sinks/Server/Authorization
            Sinks/Server/Channel: System Sinks/Outbox Sinks/Server
            Sinks/Server/Responses: Sinks/Server/Channel
            Sinks/Server/Merge:
            Sinks/Server/Identity: Sinks/Server Sinks/Server/Merge
            Sinks/Server/Entries: Sinks/Outbox Sinks/Server Sinks/Server/Channel Sinks/Server/Identity
                Sinks/Server/Responses
            Sinks/Server/Delivery: System Sinks/Outbox Sinks/Server Sinks/Server/Channel Sinks/Server/Responses
                Sinks/Server/Merge Sinks/Server/Identity Sinks/Server/Entries
            Sinks/Events: Sinks/Outbox Sinks/Server/Delivery
            Sinks/EventHub: System Crypto Sinks/Outbox Sinks/Events Sinks/Server Sinks/Server/HTTP
                Sinks/Server/Channel Sinks/Server/Delivery
            Sinks/Kafka: System Kafka Sinks/Outbox Sinks/Events Sinks/Server Sinks/Server/Channel Sinks/Server/Delivery
            Sinks/Postgres: System Sinks/Outbox Sinks/Server Sinks/Server/Channel Sinks/Server/Delivery
            Tap: Ingest
            Telemetry: System Ingest Ingest/Peers Sinks/Outbox
            Sinks/Kinds: System Crypto/TLS Configuration/Values Sinks/Outbox Sinks Sinks/Files Sinks/Server
                Sinks/Server/HTTP Sinks/Server/Authorization Sinks/Server/Access Sinks/Server/Responses
                Sinks/Server/Delivery Sinks/Events Sinks/EventHub Kafka Sinks/Kafka
                Sinks/Postgres Telemetry
            Sinks/AuditEvents: System Audit Sinks/Server Sinks/Server/HTTP Sinks/Server/Access Sinks/Server/Channel
                Sinks/Server/Responses Sinks/Kinds Telemetry
            Comparison: System Sinks/Server Sinks/Server/HTTP Sinks/Server/Access Sinks/Kinds
            Store/Migration: Sinks/Server
            Store: System Crypto/Seal Crypto/Datagrams Ingest Sinks/Outbox Sinks/Server Sinks/Server/Entries Store/Migration
            Archive: System Crypto/Seal Store
            Configuration: System Crypto/Seal Log Configuration/Values MQTT Ingest Ingest/Compression Ingest/Peers
                Ingest/Framing
                Ingest/Kafka Ingest/Sources Sinks/Files Sinks/Kinds Store Crypto Telemetry
            Configuration/Printing: System Configuration/Values Ingest/Sources Sinks/Kinds Store Configuration
            Preview: System Configuration
            Ledger: System Ingest Ingest/Peers Sinks/Outbox Telemetry Store Archive Configuration
            Timeline: System Configuration Store Archive Ledger
            Top: Telemetry Ledger
            Control: System Crypto/Seal Audit Ingest Ingest/Sources Tap Store Archive Ledger Sinks/Outbox
            Admin: System HTTP Telemetry Ledger
            Console/Access: System Crypto HTTP
            Console/Subject: System Archive Configuration Store Admin Console/Access
            Console/Letters: Tap Configuration Ledger
            Console/Live: System HTTP Telemetry Archive Configuration Ledger Timeline Top Admin Console/Access
                Console/Subject
            Console: System Audit HTTP Tap Telemetry Archive Configuration/Values Configuration Preview Store Ledger Timeline
                Control Admin Console/Access Console/Subject Console/Letters Console/Live
            Search: System Audit Crypto HTTP Ingest/Peers Archive Configuration Admin Console
            Pipeline/Output: System Ingest Ingest/Sources Sinks/Outbox Sinks Sinks/Files Telemetry Sinks/Kinds Store
                Configuration Control
            Pipeline/Watch: System Log Sinks/Outbox Telemetry Configuration/Values
            Pipeline: System Audit Sinks/AuditEvents Crypto/Seal Configuration/Values Ingest Ingest/Peers HTTP Ingest/Framing Ingest/Sources
                Ingest/Lane Sinks Sinks/Files
                Sinks/DeadLetters Tap Telemetry Sinks/Kinds Store Archive Configuration Configuration/Printing Preview
                Ledger Control Admin Console Console/Access Console/Subject Search Pipeline/Output Pipeline/Watch
            Support: System Store Configuration Ledger
            Embedding: System Configuration/Values Ingest Ingest/Framing Ingest/Sources Sinks Telemetry Sinks/Kinds
                Store Configuration Pipeline
            .:
            """)
}
