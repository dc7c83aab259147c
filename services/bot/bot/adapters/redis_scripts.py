"""The three Lua scripts: what must be decided and written in one step, by Redis' own clock.

GCRA keeps one number a key, the time at which its allowance is full again, in microseconds. All sums
stay below 2^53, so Lua's doubles hold them exactly. Every SET has a PX: no key outlives its use, and
`volatile-ttl` may evict any of them (redis/redis#8623). Not INCREX, which needs Redis 8.8 and counts
in fixed windows: twice the burst at their edge.
"""

from __future__ import annotations

TAKE = """
-- KEYS: secret of the day, spent model seconds, then 1..n allowances (visitor, network)
-- ARGV: day, SHA-1 of the secret, span of the model's allowance, then (span, interval) for each
-- Replies {code, remaining or who, wait}: 0 another secret counts, 1 allowed, 2 refused by allowance
-- number `who`, 3 refused since the model's time is spent
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local secret = redis.call('GET', KEYS[1])
if math.floor(time[1] / 86400) ~= tonumber(ARGV[1]) or not secret
    or redis.sha1hex(secret) ~= ARGV[2] then
  return {0, 0, 0}
end
local full, remaining, wait, who = {}, math.huge, 0, 0
for i = 3, #KEYS do
  local span, interval = tonumber(ARGV[2 * i - 2]), tonumber(ARGV[2 * i - 1])
  local at = tonumber(redis.call('GET', KEYS[i]) or now) or now
  -- Later than one span only where Redis' clock was set back: no visitor pays for that.
  full[i] = math.max(now, math.min(at, now + span)) + interval
  if full[i] - span - now > wait then wait, who = full[i] - span - now, i - 3 end
  remaining = math.min(remaining, math.floor((now + span - full[i]) / interval))
end
if wait > 0 then return {2, who, wait} end
local spent = tonumber(redis.call('GET', KEYS[2]) or now) or now
local debt = spent - now - tonumber(ARGV[3])
if debt >= 0 then return {3, 0, debt} end
for i = 3, #KEYS do
  redis.call('SET', KEYS[i], string.format('%.0f', full[i]), 'PX',
             math.ceil((full[i] - now) / 1000))
end
return {1, remaining, 0}
"""

SPEND = """
-- KEYS: spent model seconds. ARGV: span, cost (both in microseconds of allowance), force
-- Replies {taken, wait}. An answer may begin while anything is left, so the last one overdraws.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local span, cost = tonumber(ARGV[1]), tonumber(ARGV[2])
local at = tonumber(redis.call('GET', KEYS[1]) or now) or now
at = math.max(now, math.min(at, now + 2 * span))
if ARGV[3] == '0' and at - now >= span then return {0, at - now - span} end
local full = math.max(now, at + cost)
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX',
           math.max(1, math.ceil((full - now) / 1000)))
return {1, 0}
"""

RESUME = """
-- KEYS: conversation. ARGV: lifetime in ms, fresh. Replies the number of the turn, 0 where unknown
local turn = tonumber(redis.call('GET', KEYS[1]) or 0) or 0
if (ARGV[2] == '1') ~= (turn == 0) then return 0 end
redis.call('SET', KEYS[1], turn + 1, 'PX', ARGV[1])
return turn + 1
"""
