/// Counters of lanes, rings and shards.
enum EngineRows {
    static let rows: [Counter] = [
        .ofRings("kymo_ring_used_slots", .gauge, "slots", "Slots in use of the ring between a lane and a shard") {
            $0.used
        },
        .ofRings("kymo_ring_slots", .gauge, "slots", "Slots of the ring") { $0.slots },
        .ofRings("kymo_ring_waits_total", .counter, "waits", "How often the lane has waited for room in the ring") {
            $0.waits
        },
        .ofShards("kymo_devices", "devices", "Devices that a shard has met since the start") { $0.devices },
        .ofShards("kymo_series", "series", "Series that a shard has met since the start") { $0.series },
        .ofLanes("kymo_lane_devices", "devices", "Devices that a lane has met since the start") { $0.devices },
        .ofLanes("kymo_lane_series", "series", "Series that a lane has met since the start") { $0.series },
        .ofEngine(
            "kymo_devices_limit", "devices", "Most devices that a lane or a shard takes: `limits.devices`"
        ) { $0.mostDevices },
        .ofEngine("kymo_series_limit", "series", "Most series that a lane or a shard takes: `limits.series`") {
            $0.mostSeries
        },
        .ofShards("kymo_windows_open", "windows", "Windows in memory: filling, or waiting to be written") {
            $0.windows
        },
        .ofThreads(
            "kymo_lane_busy_seconds_total", label: "lane", "Processor time of the thread of a lane, of user and system"
        ) { $0.laneSeconds },
        .ofThreads(
            "kymo_shard_busy_seconds_total", label: "shard",
            "Processor time of the thread of a shard, of user and system"
        ) { $0.shardSeconds },
    ]
}
