-- single.lua: for wrk, requests of one reading each, no two alike: one a second of each of 128 devices.
local number = 0
local start = os.time({ year = 2026, month = 3, day = 1, hour = 8 })
local fields = { ["Content-Type"] = "application/json" }

function request()
    local body = string.format(
        '{"deviceId":"watch-%d","patientId":"patient","type":"heartRate","timestamp":"%s","value":%d,"unit":"/min"}',
        number % 128, os.date("!%Y-%m-%dT%H:%M:%SZ", start + math.floor(number / 128)), 60 + number % 40)
    number = number + 1
    return wrk.format("POST", "/v1/ingest/reading", fields, body)
end
